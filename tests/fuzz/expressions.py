# SPDX-License-Identifier: MIT
"""Random expressions, hundreds in one run, over small hostile tables, against the model of tests/oracle/oracle_let.py: fractions,
decimal, datetime and re of Python.

    expressions.py --serve SERVE [--cases N] [--seconds N] [--seed N] [--jobs N] [--tell]

SERVE is tests/fuzz/serve.c, built. Columns hold numbers, texts and times, missing values, and here and there something else; their
names are hostile. An expression is a column of --let (with aggregates, or on columns before it), a condition of --where, a key of
--by, or a condition of --having. Each is run in one way: chunks, threads, an instruction set.

What is wrong is printed with the command line that shows it, and the table. --tell: what was refused, and how often.
"""
import argparse
import collections
import multiprocessing
import os
import random
import re
import shlex
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import differential                                             # noqa: E402
import harness                                                  # noqa: E402
import oracle_let                                               # noqa: E402
from oracle_let import Draw, Invalid, Made, is_missing, plain, settled, spell, truth, value_of, write     # noqa: E402

NAMES = ("a", "b", "t", "d", "x1", "temp-max", "size, MB", "is", "a`b", "2019", "größe", "sum(x)", "x/y", "round", "and", "1e5", "a b", "'q'",
         "count()", 'x"y', "NULL", "Missing", "if", "x = 1", "in", "a-b+1", "sum", ".", "contains", "NaN", "%", "日付", "lower")
NUMBERS = (b"", b"0", b"1", b"-2", b"3.5", b"0.001", b"-12.50", b'"7"', b" 8 ", b"1e3", b"2.5E-3", b"999999999999999999", b"100", b"2",
           b"-123456789012345678.9", b"12345678901234567890123", b"1e-25", b"0.10", b"+4", b"9223372036854775807", b"-0")
TEXTS = (b"", b"a", b"Abc", b'"x,Y"', b'"say ""HI"""', "grÖße".encode(), b"  pad ", b"12", b"1h30m", b"01:30:15", b"1.5K", b"$5", b"b.a.b", b"10:00")
DATES = (b"", b"2026-11-23", b"1969-12-31T23:59:58.25Z", b"2000-02-29 12:30", b'"2024-01-01T00:00:00+02:00"', b'"1600-03-01T01:02:03,5-0130"',
         b"9999-12-31T23:59:59Z", b"2024-W18-3", b"2024-122", b"20240229T235960Z", b"0000-01-01")
ODD = (b"x", b"$5", b"2024-13-01", b"1e500", b"--1", b"NA", b"2024", b"1,5")
GROUPS = (b"x", b"y", b"", b'"p,q"', b"1", b"1.0")
NLETS, NOTHERS = 60, 12         # expressions over one table


class Table:
    """Columns by what they hold, and records: dicts of raw fields by name. The same records may be there several times."""
    def __init__(self, rng):
        names = rng.sample(NAMES, 7)
        self.names, self.odd = names, rng.choice((0, 0, 12))
        self.numbers, self.texts, self.dates, self.group = names[:2], names[2:4], names[4:6], names[6]
        pools = dict(zip(names, (NUMBERS, NUMBERS, TEXTS, TEXTS, DATES, DATES, GROUPS)))
        records = [{name: self.field(rng, pool, self.odd) for name, pool in pools.items()} for _ in range(rng.choice((3, 7, 10)))]
        self.records = [rng.choice(records) for _ in range(rng.choice((5, 12, 63, 64, 65, 130)))]
        lines = [b",".join(self.in_header(name) for name in names)] + [b",".join(r[n] for n in names) for r in self.records]
        self.data = b"".join(line + b"\n" for line in lines)

    @staticmethod
    def field(rng, pool, odd):
        field = rng.choice(ODD if odd and rng.randrange(odd) == 0 else pool)
        return b'"1,5"' if field == b"1,5" else field

    @staticmethod
    def in_header(name):
        return b'"%s"' % name.replace('"', '""').encode() if set(name) & set('",') else name.encode()

    @staticmethod
    def in_list(name):
        """As an item of COLS."""
        return '"%s"' % name.replace('"', '""')

    def draw(self, rng, aggregates=False):
        return Draw(rng, self.numbers, self.texts, self.dates, aggregates, 25, differential.hostile_request.PATTERNS)

    def distinct(self):
        return list({id(r): r for r in self.records}.values())

    def groups(self):
        """{key: its records}"""
        found = {}
        for r in self.records:
            found.setdefault(plain(r[self.group]), []).append(r)
        return found


class Fuzzer(differential.Fuzzer):
    def __init__(self, serve):
        super().__init__(serve, 1, None, differential.hostile_request.Goes(lambda names: True))
        self.counts, self.refused, self.wrong = collections.Counter(), collections.Counter(), 0

    def ask(self, rng, args, table):
        env = ["GPUSTAT_SIMD=" + rng.choice(self.sets)] + rng.choice(([], ["GPUSTAT_CHUNK_BYTES=%d" % rng.choice((1, 7, 64, 500))]))
        args = ["-H", "--threads=%d" % rng.choice((1, 1, 2, 3)), "--invalid=skip", "--max-invalid=100%", *args]
        return self.run(args, table.data, env, rng.choice("fp"))

    def complain(self, seed, what, args, table, got, want):
        self.wrong += 1
        print("---- seed %d: %s\nprintf %%s %s |\n  gpustat -H --invalid=skip %s\ngot:  %s\nwant: %s" % (
            seed, what, shlex.quote(os.fsdecode(table.data)), shlex.join(args), got, want), flush=True)

    # ---- columns of --let ----

    def lets(self, rng, seed):
        table, aggregates, trees = Table(rng), rng.randrange(3) == 0, {}
        by = ["--by", table.in_list(table.group)] if aggregates and rng.randrange(2) else []
        draw = table.draw(rng, aggregates)
        for k in range(NLETS):
            tree = draw.any(rng.choice((1, 2, 2, 3, 4)))
            name = "z%d" % k
            trees[name] = tree, spell(tree, rng)
            if not aggregates and k % 8 == 0:       # others may take it
                (draw.texts if oracle_let.type_of(tree) in ("text", "time") else draw.numbers).append(name)
        nodes = [tree for tree, _ in trees.values()]
        if aggregates:
            table.records = [dict(r) for r in table.records]        # each has its own
            for records in table.groups().values() if by else [table.records]:
                oracle_let.add_aggregates(nodes, records)
        for record in table.distinct():
            for name, (tree, _) in trees.items():
                record[name] = value_of(tree, record)
        for node in {node for tree in nodes for node in oracle_let.nodes(tree, "aggregate")}:
            counted = table.odd and node[2][0] == "column"      # what is no number is counted unless others sum it
            if counted or self.has_none(value_of(node[2], record) for record in table.records):
                trees = {name: item for name, item in trees.items() if node not in oracle_let.nodes(item[0], "aggregate")}
        alone = [n for n in trees if self.has_none(record[n] for record in table.distinct())]
        self.run_lets(rng, seed, table, {n: trees[n] for n in trees if not set(self.chain(n, trees) + [n]) & set(alone)}, by)
        for name in alone:
            self.run_let(rng, seed, table, name, trees, by)

    @staticmethod
    def has_none(values):
        """Are all of them invalid? That ends a run."""
        kept = [v for v in values if isinstance(v, Invalid) or not is_missing(v)]
        return kept and all(isinstance(v, Invalid) for v in kept)

    def run_lets(self, rng, seed, table, trees, by):
        """Runs the columns at once, but for those that are refused, and those which take them."""
        while trees:
            args = [a for name, (_, text) in trees.items() for a in ("--let", name + "=" + text)] + ["--only"]
            args += by if any(oracle_let.nodes(tree, "aggregate") for tree, _ in trees.values()) else []
            r = self.ask(rng, args, table)
            if r.status == 0:
                break
            gone = self.refused_columns(r, trees)
            if not gone or r.status != 2:
                self.complain(seed, "a run fails", args, table, r.err[-600:], "")
                return
            trees = {name: tree for name, tree in trees.items() if not set(self.chain(name, trees) + [name]) & set(gone)}
        self.counts["--let"] += len(trees)
        want = [",".join(trees).encode()] + [b",".join(self.shown(r[n]) for n in trees) for r in table.records]
        if trees and r.out != b"\n".join(want) + b"\n":
            ran = [self.run_let(rng, seed, table, name, trees, by) for name in trees]
            if all(ran):
                wrong = next((line, right) for line, right in zip(r.out.split(b"\n"), want) if line != right)
                self.complain(seed, "all columns at once", args, table, *wrong)

    def refused_columns(self, r, trees):
        line = r.err.decode("utf-8", "replace").split("\n")
        while line[0].startswith("gpustat: warning:"):
            del line[0]
        part = line[1].removeprefix("...").removesuffix("...") if len(line) > 1 else ""
        self.refused[re.sub(r"'.*?'", "'...'", line[0]).split("; --invalid")[0]] += 1
        return [name for name, (_, text) in trees.items() if part and part in name + "=" + text]

    @staticmethod
    def shown(value):
        return b"" if isinstance(value, Invalid) else write(value)

    def run_let(self, rng, seed, table, name, trees, by):
        """One column, with those that it takes. False: it is wrong."""
        args = [a for n in self.chain(name, trees) + [name] for a in ("--let", n + "=" + trees[n][1])] + ["--select=" + name]
        args += by if oracle_let.nodes(trees[name][0], "aggregate") else []
        r = self.ask(rng, args, table)
        want = b"".join(self.shown(record[name]) + b"\n" for record in table.records)
        if r.status == 2:
            self.refused_columns(r, trees)
            return True
        self.counts["--let"] += 1
        if r.status == 1 and self.has_none(record[name] for record in table.records) and b"; --invalid skip leaves out " in r.err:
            return True
        if r.status == 0 and r.out == name.encode() + b"\n" + want:
            return True
        lines = list(zip(r.out.split(b"\n")[1:], table.records))
        first = next((i for i, (line, record) in enumerate(lines) if line != self.shown(record[name])), None)
        where = "%s = %s" % (name, trees[name][1])
        if first is not None:
            where += ": %r where %r is right, of %r" % (lines[first][0], lines[first][1][name], [lines[first][1][n] for n in table.names])
        self.complain(seed, where, args, table, (r.out, r.err[:300]), want)
        return False

    def chain(self, name, trees):
        """The columns that a column takes, in order."""
        found = [n[1] for n in oracle_let.nodes(trees[name][0], "column") if n[1] in trees]
        return sorted({m for n in found for m in [*self.chain(n, trees), n]}, key=list(trees).index)

    # ---- conditions, keys ----

    def refuses(self, r):
        """Is it a usage error, or does nothing stay?"""
        if r.status == 0:
            return False
        self.refused_columns(r, {})
        return True

    def wheres(self, rng, seed):
        table, aggregates = Table(rng), rng.randrange(4) == 0
        draw = table.draw(rng, aggregates)
        by = aggregates and rng.randrange(2)
        if aggregates:
            table.records = [dict(r) for r in table.records]
        for _ in range(NOTHERS):
            tree = draw.condition(rng.choice((1, 2, 3)))
            if any(self.has_none(value_of(node[2], record) for record in table.records) for node in oracle_let.nodes(tree, "aggregate")):
                continue
            if aggregates:
                for records in table.groups().values() if by else [table.records]:
                    oracle_let.add_aggregates([tree], records)
            kept = {}
            for record in table.distinct():
                try:
                    kept[id(record)] = settled(truth(tree, record)) == oracle_let.TRUE
                except Invalid:
                    kept[id(record)] = None
            args = ["--where", oracle_let.spell_condition(tree, rng), *(["--by", table.in_list(table.group)] if by and oracle_let.nodes(tree, "aggregate") else []),
                    "--select=1-7"]
            r = self.ask(rng, args, table)
            lines = table.data.split(b"\n")
            want = b"\n".join([lines[0]] + [line for line, record in zip(lines[1:], table.records) if kept[id(record)]]) + b"\n"
            if self.refuses(r):
                if r.status != 2 and None not in kept.values():
                    self.complain(seed, "not refused", args, table, r.err[:600], want)
                continue
            self.counts["--where"] += 1
            if r.out != want:
                self.complain(seed, "--where", args, table, r.out, want)

    def keys(self, rng, seed):
        table = Table(rng)
        draw, total = table.draw(rng), table.numbers[0]
        for _ in range(NOTHERS):
            tree, groups = draw.any(rng.choice((1, 2, 3))), {}
            for record in table.records:
                value = value_of(tree, record)
                if not isinstance(value, Invalid):
                    groups.setdefault(plain(write(value)), []).append(record)
            args = ["--by", "k=" + spell(tree, rng), "--count=" + table.in_list(total)]
            r = self.ask(rng, args, table)
            if self.refuses(r):
                continue
            self.counts["--by"] += 1
            # Values that are no numbers do not count.
            want = b"".join(b"%s,%d\n" % (self.cell(key), sum(not is_missing(r[total]) for r in rs)) for key, rs in groups.items())
            if r.out.split(b"\n", 1)[1] != want:
                self.complain(seed, "--by", args, table, r.out, want)

    @staticmethod
    def cell(key):
        return b'"%s"' % key.replace(b'"', b'""') if set(key) & set(b'",\r\n') else key

    def havings(self, rng, seed):
        table = Table(rng)
        group, total = table.group, table.numbers[0]
        for _ in range(NOTHERS):
            draw = Draw(rng, ["n%d" % i for i in range(4)])
            tree, aggregates = draw.condition(rng.choice((1, 2, 3))), {}
            for name in draw.numbers:
                aggregates[name] = table.draw(rng).__class__(rng, table.numbers).aggregate(rng.choice((1, 1, 2)))
            text = oracle_let.spell_condition(tree, rng)
            for name, node in aggregates.items():
                text = re.sub(r"`?\b%s\b`?" % name, lambda m, node=node: spell(node, rng), text)
            kept, unclear = {}, False
            for key, records in table.groups().items():
                record = {name: oracle_let.aggregate(node, records) for name, node in aggregates.items()}
                record = {name: Made(write(value)) if isinstance(value, bytes) else value for name, value in record.items()}
                try:
                    if settled(truth(tree, record)) == oracle_let.TRUE:
                        kept[key] = len(records)
                except Invalid:
                    unclear = True
            args = ["--by", table.in_list(group), "--having", text]
            r = self.ask(rng, args, table)
            if self.refuses(r):
                if r.status != 2 and not unclear and not any(
                        self.has_none(value_of(node[2], record) for record in table.records) for node in aggregates.values()):
                    self.complain(seed, "not refused", args, table, r.err[:600], "")
                continue
            self.counts["--having"] += 1
            want = b"".join(b"%s,%d\n" % (self.cell(key), n) for key, n in kept.items())
            if r.out.split(b"\n", 1)[1] != want:
                self.complain(seed, "--having", args, table, r.out, want)

    def batch(self, seed):
        rng = random.Random(seed)
        rng.choice((self.lets, self.lets, self.lets, self.wheres, self.keys, self.havings))(rng, seed)


def job(options, k):
    fuzzer, seed, start = Fuzzer(options.serve), options.seed + k, time.monotonic()
    while (options.cases is None or sum(fuzzer.counts.values()) < options.cases // options.jobs) and fuzzer.wrong < options.limit and \
            (options.seconds is None or time.monotonic() - start < options.seconds):
        fuzzer.batch(seed)
        seed += options.jobs
    fuzzer.close()
    return fuzzer.counts, fuzzer.refused, fuzzer.wrong


def main():
    sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--serve", required=True)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(5), "big"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=20, help="how many wrong ones end a job")
    parser.add_argument("--tell", action="store_true", help="what was refused")
    options = parser.parse_args()
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        found = pool.starmap(job, [(options, k) for k in range(options.jobs)], 1)
    counts, refused = (sum((f[i] for f in found), collections.Counter()) for i in (0, 1))
    wrong = sum(f[2] for f in found)
    print("from seed %d: %d expressions (%s), %d refused, %d wrong" % (
        options.seed, sum(counts.values()), ", ".join("%s %d" % item for item in counts.items()), sum(refused.values()), wrong))
    for what, n in refused.most_common() if options.tell else ():
        print("%6d %s" % (n, what))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
