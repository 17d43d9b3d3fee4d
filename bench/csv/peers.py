# SPDX-License-Identifier: MIT
"""The commands of each tool. A tool has a method for each question that it can answer.

    sum(data, column, threads)        the sum of one column
    every(data, threads)              sum, min, max of all columns of wide
    deviations(data, threads)         standard deviation of all columns of wide
    order(data, threads)              median, 99th percentile and number of different values of narrow's `value`
    covariances(data, threads)        of the columns of PAIRS, wide
    running(data, threads, sink)      narrow with the running sum of `value` behind each record
    changes(data, threads, sink)      narrow with the change of `value` since the record before
    lagged(data, threads, sink)       narrow with the `value` of the record before
    rolling(data, threads, sink)      narrow with the mean of the last NROLLED values
    where(data, threads, sink)        the records of logs whose status is 404: a tenth
    distinct(data, names, threads)    the number of different values of each of these columns
    groups(data, grouping, threads, sink) the groups of a Grouping: their keys, then the results
    asked(data, asked, threads, sink) what an Asked asks
    running_groups(data, threads, sink)   logs with the running sum of `bytes` by host behind each record, in their order

Each returns a Command. sink: /dev/null, or /dev/stdout where the records themselves are wanted.
Tools that split at every comma, quoted or not, are given the field where these inputs have the
column; a user would have to know that.
"""
import collections
import shlex

from inputs import COLUMNS, DELIMITERS, KINDS, WIDE_NCOLUMNS, delimiter, unpacker
from measure import Command

KEPT = "404"
NROLLED = 10
VALUE = KINDS["narrow"]
BYTES = KINDS["logs"]
HOST = COLUMNS["host"]
WIDE = ["c%d" % (i + 1) for i in range(WIDE_NCOLUMNS)]
PAIRS = list(zip(WIDE[0:10:2], WIDE[1:10:2]))

# Groups by keys, which are Columns. An operation is one of "count", which has no columns, "sum", "mean", "min", "max", "median",
# "stddev", and "corr", which has two.
Grouping = collections.namedtuple("Grouping", "keys results")
Result = collections.namedtuple("Result", "operation columns")
# A question with an expression, which each has in words of its own: gpustat's options; of DuckDB what is selected {} a table, and
# what follows; of polars what becomes of the lazy frame t. answer: the column, by number, that is summed up to compare the answers.
Asked = collections.namedtuple("Asked", "gpustat duckdb polars answer")


class Peer:
    """name: in the table. threaded: its number of threads can be set."""
    threaded = False
    reads_gz = False  # by itself
    operations = {}  # of groups, with this tool's words for each
    reads_delimiters = True  # others than commas
    reads_lines_in_quotes = True  # or, as mawk, can be told which lines are the rest of a record

    def can(self, task):
        """Whether it has a command for the task."""
        if not getattr(self, task.question, None) or task.kind in DELIMITERS and not self.reads_delimiters:
            return False
        if task.question == "groups" and task.kind == "ledger" and not self.reads_lines_in_quotes:
            return False
        return task.question != "groups" or all(r.operation in self.operations for r in task.column.results)

    def results(self, grouping):
        """The words for the results of a Grouping."""
        return [self.operations[r.operation].format(*(column.name for column in r.columns)) for r in grouping.results]

    def __init__(self, name, path, programs):
        self.name, self.path, self.programs = name, path, programs

    def fed(self, data, argv, file_argv=None, env=None, quiet=False):
        """argv with the data on standard input; or file_argv, which names the file, if there is one that the
        tool can read."""
        native = data.way in ("file", "gz", "bgz") if self.reads_gz else data.way == "file"
        if native and file_argv is not None:
            return Command(file_argv, env or {}, None, quiet)
        if data.way == "file":
            return Command(argv, env or {}, data.path, quiet)
        line = "%s | %s" % (unpacker(data, self.programs), shlex.join(argv))
        return Command(line, env or {}, None, quiet)


def _fields(grouping):
    """The fields of its keys, for a tool that splits at every comma."""
    return [field for key in grouping.keys for field in range(key.field, key.field + 1 + (key.name == "path"))]


def _header(grouping):
    return ",".join([key.name for key in grouping.keys] + ["r%d" % i for i, _ in enumerate(grouping.results)])


class Awk(Peer):
    # what a record does to the arrays of result {0}, and what is printed of group k; {1}: the field. n: of its records
    operations = {"count": ("", "n[k]"), "sum": ("a{0}[k] += ${1}", "a{0}[k]"), "mean": ("a{0}[k] += ${1}", "a{0}[k] / n[k]"),
                  "min": ("if (!(k in n) || ${1} < a{0}[k]) a{0}[k] = ${1}", "a{0}[k]"),
                  "max": ("if (!(k in n) || ${1} > a{0}[k]) a{0}[k] = ${1}", "a{0}[k]")}

    def _ask(self, data, script, quiet=False):
        argv = [self.path, "-F" + delimiter(data.kind), script]
        return self.fed(data, argv, argv + [data.path], quiet=quiet)

    def sum(self, data, column, threads):
        return self._ask(data, '{ s += $%d } END { printf "%%.17g\\n", s }' % column.field)

    def every(self, data, threads):
        return self._ask(data, 'NR == 2 { for (i = 1; i <= NF; i++) a[i] = b[i] = $i + 0 }'
                         ' NR > 1 { for (i = 1; i <= NF; i++) { v = $i + 0; s[i] += v;'
                         ' if (v < a[i]) a[i] = v; if (v > b[i]) b[i] = v } }'
                         ' END { for (i = 1; i <= NF; i++)'
                         ' printf "%.17g,%.17g,%.17g,", s[i], a[i], b[i] }')

    def running(self, data, threads, sink):
        return self._ask(data, 'NR == 1 { print $0 ",running_sum"; next } { s += $%d;'
                         ' print $0 "," s }' % VALUE.field, quiet=sink == "/dev/null")

    def changes(self, data, threads, sink):
        return self._ask(data, 'NR == 1 { print $0 ",delta"; next } { v = $%d; print $0 "," (NR > 2 ? v - last : ""); last = v }'
                         % VALUE.field, sink == "/dev/null")

    def lagged(self, data, threads, sink):
        return self._ask(data, 'NR == 1 { print $0 ",lag"; next } { print $0 "," last; last = $%d }' % VALUE.field,
                         sink == "/dev/null")

    def rolling(self, data, threads, sink):
        return self._ask(data, 'NR == 1 { print $0 ",mean"; next } { i = NR %% %d; s += $%d - a[i]; a[i] = $%d; n += n < %d;'
                         ' printf "%%s,%%.17g\\n", $0, s / n }' % (NROLLED, VALUE.field, VALUE.field, NROLLED), sink == "/dev/null")

    def groups(self, data, grouping, threads, sink):
        key = ' "," '.join("$%d" % field for field in _fields(grouping))
        steps, shown = zip(*([text.format(i, *(column.field for column in r.columns)) for text in self.operations[r.operation]]
                             for i, r in enumerate(grouping.results)))
        # in ledger, a line of less fields is the rest of a memo
        return self._ask(data, 'NR == 1 { print "%s"; next } %s{ k = %s; %s; n[k]++ } END { for (k in n) printf "%%s%s\\n", k, %s }'
                         % (_header(grouping), "NF > 3 " if data.kind == "ledger" else "", key,
                            "; ".join(filter(None, steps)), ",%.17g" * len(shown), ", ".join(shown)), sink == "/dev/null")

    def running_groups(self, data, threads, sink):
        return self._ask(data, 'NR == 1 { print $0 ",running_sum"; next } { s[$%d] += $%d; print $0 "," s[$%d] }'
                         % (HOST.field, BYTES.field, HOST.field), sink == "/dev/null")

    def where(self, data, threads, sink):
        return self._ask(data, "NR == 1 || $%d == %s" % (COLUMNS["status"].field, KEPT), sink == "/dev/null")


class Datamash(Peer):
    reads_lines_in_quotes = False
    operations = {"count": "count 1", "sum": "sum {0}", "mean": "mean {0}", "min": "min {0}", "max": "max {0}",
                  "median": "median {0}", "stddev": "sstdev {0}"}

    def sum(self, data, column, threads):
        return self.fed(data, [self.path, "-t,", "--header-in", "sum", str(column.field)])

    def every(self, data, threads):
        columns = "1-%d" % WIDE_NCOLUMNS
        return self.fed(data, [self.path, "-t,", "--header-in", "sum", columns, "min", columns,
                               "max", columns])

    def deviations(self, data, threads):
        return self.fed(data, [self.path, "-t,", "--header-in", "sstdev", "1-%d" % WIDE_NCOLUMNS])

    def order(self, data, threads):
        field = str(VALUE.field)
        return self.fed(data, [self.path, "-t,", "--header-in", "median", field, "perc:99", field,
                               "countunique", field])

    def distinct(self, data, names, threads):
        fields = ",".join(str(WIDE.index(name) + 1 if name in WIDE else COLUMNS[name].field) for name in names)
        return self.fed(data, [self.path, "-t,", "--header-in", "countunique", fields])

    def groups(self, data, grouping, threads, sink):
        """Sorts, as it has to. It has no names for fields beyond the header's, so another program prints a header; a deviation of
        one value is nan, for which the others print nothing."""
        ask = [self.path, "-s", "-t" + delimiter(data.kind), "--output-delimiter=,", "--header-in",
               "-g", ",".join(map(str, _fields(grouping)))]
        for r in grouping.results:
            ask += self.operations[r.operation].format(*(column.field for column in r.columns)).split()
        command = "%s < %s" % (shlex.join(ask), shlex.quote(data.path))
        if any(r.operation == "stddev" for r in grouping.results):
            command += " | sed s/nan//"
        return Command("{ echo %s; %s; }" % (_header(grouping), command), {}, None, sink == "/dev/null")


class Miller(Peer):
    reads_gz = True
    operations = {operation: operation for operation in ("count", "sum", "mean", "min", "max", "stddev")}

    def _ask(self, data, verb, quiet=False):
        argv = [self.path, "--icsv", "--ocsv", "--ifs", delimiter(data.kind), *verb]
        return self.fed(data, argv, argv + [data.path], quiet=quiet)

    def sum(self, data, column, threads):
        return self._ask(data, ["stats1", "-a", "sum", "-f", column.name])

    def every(self, data, threads):
        return self._ask(data, ["stats1", "-a", "sum,min,max", "--fr", "^c"])

    def deviations(self, data, threads):
        return self._ask(data, ["stats1", "-a", "stddev", "--fr", "^c"])

    def running(self, data, threads, sink):
        return self._ask(data, ["step", "-a", "rsum", "-f", VALUE.name], sink == "/dev/null")

    def _step(self, data, what, sink):
        return self._ask(data, ["step", "-a", what, "-f", VALUE.name], sink == "/dev/null")

    def changes(self, data, threads, sink):
        return self._step(data, "delta", sink)

    def lagged(self, data, threads, sink):
        return self._step(data, "shift_lag", sink)

    def rolling(self, data, threads, sink):
        return self._step(data, "slwin_%d_0" % (NROLLED - 1), sink)

    def distinct(self, data, names, threads):
        return self._ask(data, ["stats1", "-a", "distinct_count", "-f", ",".join(names)])

    def groups(self, data, grouping, threads, sink):
        keys = [key.name for key in grouping.keys]
        columns = list(dict.fromkeys(column.name for r in grouping.results for column in r.columns))
        results = ["%s_%s" % (r.columns[0].name if r.columns else columns[0], r.operation) for r in grouping.results]
        accumulators = list(dict.fromkeys(self.results(grouping)))  # one that is named twice adds each value twice
        return self._ask(data, ["stats1", "-a", ",".join(accumulators), "-f", ",".join(columns), "-g", ",".join(keys),
                                "then", "cut", "-o", "-f", ",".join(keys + results)], sink == "/dev/null")

    def running_groups(self, data, threads, sink):
        return self._ask(data, ["step", "-a", "rsum", "-f", BYTES.name, "-g", HOST.name], sink == "/dev/null")

    def where(self, data, threads, sink):
        return self._ask(data, ["filter", "$status == " + KEPT], sink == "/dev/null")


class Duckdb(Peer):
    threaded = reads_gz = True
    operations = {"count": "count(*)", "sum": "sum({0})", "mean": "avg({0})", "min": "min({0})", "max": "max({0})",
                  "median": "median({0})", "stddev": "stddev_samp({0})", "corr": "nullif(corr({0}, {1}), 'nan')"}
    table_options = ""

    def _argv(self, sql, threads):
        return [self.path, "-init", "/dev/null", "-csv", "-noheader",
                "-c", "SET threads=%d" % threads, "-c", sql]

    def _ask(self, data, threads, sql):
        def argv(path):
            return self._argv(sql % ("read_csv('%s'%s)" % (path, self.table_options)), threads)
        return self.fed(data, argv("/dev/stdin"), argv(data.path))

    def sum(self, data, column, threads):
        return self._ask(data, threads, "SELECT sum(%s) FROM %%s" % column.name)

    def every(self, data, threads):
        return self._ask(data, threads,
                         "SELECT sum(COLUMNS(*)), min(COLUMNS(*)), max(COLUMNS(*)) FROM %s")

    def deviations(self, data, threads):
        return self._ask(data, threads, "SELECT stddev_samp(COLUMNS(*)) FROM %s")

    def order(self, data, threads):
        return self._ask(data, threads, "SELECT median({0}), quantile_cont({0}, 0.99), count(DISTINCT {0}) FROM %s"
                         .format(VALUE.name))

    def covariances(self, data, threads):
        return self._ask(data, threads, "SELECT %s FROM %%s" % ", ".join("covar_samp(%s, %s)" % pair for pair in PAIRS))

    def _copy(self, data, threads, sink, query):
        return self._ask(data, threads, "COPY (%s) TO '%s' (FORMAT csv, HEADER, USE_TMP_FILE false)"
                         % (query, sink))

    def running(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT *, sum(%s) OVER (ROWS UNBOUNDED PRECEDING)"
                          " FROM %%s" % VALUE.name)

    def changes(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT *, %s - lag(%s) OVER () FROM %%s" % (VALUE.name, VALUE.name))

    def lagged(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT *, lag(%s) OVER () FROM %%s" % VALUE.name)

    def rolling(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT *, avg(%s) OVER (ROWS BETWEEN %d PRECEDING AND CURRENT ROW)"
                          " AS mean FROM %%s" % (VALUE.name, NROLLED - 1))

    def distinct(self, data, names, threads):
        return self._ask(data, threads, "SELECT %s FROM %%s" % ", ".join("count(DISTINCT %s)" % name for name in names))

    def groups(self, data, grouping, threads, sink):
        keys = ", ".join(key.name for key in grouping.keys)
        return self._copy(data, threads, sink, "SELECT %s, %s FROM %%s GROUP BY %s" % (
            keys, ", ".join(self.results(grouping)), keys))

    def asked(self, data, asked, threads, sink):
        return self._copy(data, threads, sink, asked.duckdb.format("FROM %s"))

    def running_groups(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT * EXCLUDE n, sum(bytes) OVER (PARTITION BY host ORDER BY n) FROM"
                          " (SELECT *, row_number() OVER () AS n FROM %s) ORDER BY n")

    def where(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT * FROM %%s WHERE status = %s" % KEPT)


class DuckdbModule(Duckdb):
    def _argv(self, sql, threads):
        # COPY answers with a count, which must not follow the records
        show = "c.execute(%r)" if sql.startswith("COPY") else "print(*c.execute(%r).fetchone())"
        return [self.path, "-c", "import duckdb\nc = duckdb.connect()\n"
                "c.execute('SET enable_progress_bar = false')\n"  # which is printed among the records
                "c.execute('SET threads=%d')\n%s" % (threads, show % sql)]


class DuckdbText(Duckdb):
    """Records are not changed: as text they need no conversion."""
    table_options = ", all_varchar = true"
    sum = every = deviations = order = covariances = running = distinct = groups = asked = running_groups = None

    def where(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT * FROM %%s WHERE status = '%s'" % KEPT)


class Polars(Peer):
    threaded = reads_gz = True
    operations = {"count": "pl.len()", "sum": "c({0!r}).sum()", "mean": "c({0!r}).mean()", "min": "c({0!r}).min()",
                  "max": "c({0!r}).max()", "median": "c({0!r}).median()", "stddev": "c({0!r}).std()",
                  "corr": "pl.corr({0!r}, {1!r}).fill_nan(None)"}

    def _ask(self, data, threads, expression, quiet=False):
        """expression: Python, of a lazy frame t."""
        def argv(source):
            return [self.path, "-c", "import sys, polars as pl\nt = %s\n%s" % (source, expression)]
        separator = ", separator=%r" % delimiter(data.kind) if data.kind in DELIMITERS else ""
        return self.fed(data, argv("pl.read_csv(sys.stdin.buffer%s).lazy()" % separator),
                        argv("pl.scan_csv(%r%s)" % (data.path, separator)), {"POLARS_MAX_THREADS": str(threads)},
                        quiet)

    def sum(self, data, column, threads):
        return self._ask(data, threads,
                         "print(t.select(pl.col(%r).sum()).collect().item())" % column.name)

    def every(self, data, threads):
        return self._ask(data, threads, "a = pl.all()\nprint(*t.select(a.sum(), "
                         "a.min().name.suffix('_min'), a.max().name.suffix('_max'))"
                         ".collect().row(0))")

    def deviations(self, data, threads):
        return self._ask(data, threads, "print(*t.select(pl.all().std()).collect().row(0))")

    def order(self, data, threads):
        return self._ask(data, threads, "v = pl.col(%r)\nprint(*t.select(v.median(), v.quantile(0.99, 'linear').alias('p'), "
                         "v.n_unique().alias('n')).collect().row(0))" % VALUE.name)

    def covariances(self, data, threads):
        return self._ask(data, threads, "print(*t.select(%s).collect().row(0))" % ", ".join(
            "pl.cov(%r, %r).alias('%s%s')" % (pair + pair) for pair in PAIRS))

    def running(self, data, threads, sink):
        return self._ask(data, threads, "t.with_columns(r=pl.col(%r).cum_sum()).sink_csv(%r)"
                         % (VALUE.name, sink))

    def changes(self, data, threads, sink):
        return self._ask(data, threads, "t.with_columns(r=pl.col(%r).diff()).sink_csv(%r)" % (VALUE.name, sink))

    def lagged(self, data, threads, sink):
        return self._ask(data, threads, "t.with_columns(r=pl.col(%r).shift(1)).sink_csv(%r)" % (VALUE.name, sink))

    def rolling(self, data, threads, sink):
        return self._ask(data, threads, "t.with_columns(r=pl.col(%r).rolling_mean(%d, min_samples=1)).sink_csv(%r)"
                         % (VALUE.name, NROLLED, sink))

    def distinct(self, data, names, threads):
        return self._ask(data, threads, "print(*t.select(pl.col(%r).n_unique()).collect().row(0))" % names)

    def groups(self, data, grouping, threads, sink):
        results = ", ".join("%s.alias('r%d')" % pair[::-1] for pair in enumerate(self.results(grouping)))
        return self._ask(data, threads, "c = pl.col\nt.group_by(%r).agg(%s).sink_csv(%r)"
                         % ([key.name for key in grouping.keys], results, sink))

    def asked(self, data, asked, threads, sink):
        return self._ask(data, threads, "c = pl.col\nt.%s.sink_csv(%r)" % (asked.polars, sink))

    def running_groups(self, data, threads, sink):
        return self._ask(data, threads, "t.with_columns(r=pl.col('bytes').cum_sum().over('host')).sink_csv(%r)" % sink)

    def where(self, data, threads, sink):
        return self._ask(data, threads, "t.filter(pl.col('status') == %s).sink_csv(%r)"
                         % (KEPT, sink))


class Chdb(Peer):
    threaded = True
    reads_delimiters = False  # a setting that would also be its output's
    operations = {"count": "count()", "sum": "sum({0})", "mean": "avg({0})", "min": "min({0})", "max": "max({0})",
                  "median": "quantileExactInclusive(0.5)({0})", "stddev": "stddevSampStable({0})",
                  "corr": "ifNotFinite(corrStable({0}, {1}), NULL)"}

    def _ask(self, data, threads, sql, sink):
        script = ("import chdb\nopen(%r, 'wb').write(chdb.query(%r, 'CSVWithNames').bytes())" % (
            sink, "%s SETTINGS max_threads = %d" % (sql % ("file('%s', 'CSVWithNames')" % data.path), threads)))
        return Command([self.path, "-c", script], {}, None, sink == "/dev/null")

    def sum(self, data, column, threads):
        return self._ask(data, threads, "SELECT sum(%s) FROM %%s" % column.name, "/dev/stdout")

    def distinct(self, data, names, threads):
        return self._ask(data, threads, "SELECT %s FROM %%s" % ", ".join("uniqExact(%s)" % name for name in names), "/dev/stdout")

    def groups(self, data, grouping, threads, sink):
        keys = ", ".join(key.name for key in grouping.keys)
        return self._ask(data, threads, "SELECT %s, %s FROM %%s GROUP BY %s" % (keys, ", ".join(self.results(grouping)), keys), sink)


class Pyarrow(Peer):
    threaded = reads_gz = True

    def _ask(self, data, threads, options, expression):
        """expression: Python, of a table t."""
        def argv(source):
            return [self.path, "-c", "import sys, pyarrow as pa\nfrom pyarrow import csv, compute\n"
                    "pa.set_cpu_count(%d)\nt = csv.read_csv(%s, csv.ReadOptions(use_threads=%r), "
                    "csv.ParseOptions(newlines_in_values=%r), csv.ConvertOptions(%s))\n%s"
                    % (threads, source, threads > 1, data.kind == "ledger", options, expression)]
        return self.fed(data, argv("sys.stdin.buffer"), argv(repr(data.path)))

    def sum(self, data, column, threads):
        return self._ask(data, threads, "include_columns=[%r]" % column.name,
                         "print(compute.sum(t[0]))")

    def every(self, data, threads):
        return self._ask(data, threads, "", "for c in t.columns: m = compute.min_max(c); "
                         "print(compute.sum(c), m['min'], m['max'])")


class Xan(Peer):
    reads_gz = True

    def _ask(self, data, argv, quiet=False):
        argv = [self.path, *argv]
        return self.fed(data, argv, argv + [data.path], quiet=quiet)

    def sum(self, data, column, threads):
        return self._ask(data, ["agg", "sum(%s)" % column.name])

    def every(self, data, threads):
        return self._ask(data, ["agg", ", ".join("sum(%s), min(%s), max(%s)" % (c, c, c)
                                                 for c in WIDE)])

    def running(self, data, threads, sink):
        return self._ask(data, ["window", "cumsum(%s)" % VALUE.name], sink == "/dev/null")

    def where(self, data, threads, sink):
        return self._ask(data, ["filter", "status == " + KEPT], sink == "/dev/null")


class Qsv(Peer):
    """--cache-threshold 0 keeps it from writing its answers beside the input."""

    def _stats(self, data, columns, wanted):
        feed = unpacker(data, self.programs)
        stats = shlex.join([self.path, "stats", "--force", "--cache-threshold", "0", "--round",
                            "9999", "--select", columns] + ([] if feed else [data.path]))
        return Command("%s%s | %s select %s" % (feed + " | " if feed else "", stats,
                                                shlex.quote(self.path), wanted))

    def sum(self, data, column, threads):
        return self._stats(data, column.name, "sum")

    def every(self, data, threads):
        return self._stats(data, "1-", "sum,min,max")

    def where(self, data, threads, sink):
        argv = [self.path, "search", "--select", "status", "^%s$" % KEPT]
        return self.fed(data, argv, argv + [data.path], quiet=sink == "/dev/null")


class Zsv(Peer):
    """Its SQL is SQLite's over columns of text, hence + 0."""

    def _ask(self, data, sql, quiet=False):
        argv = [self.path, "sql"]
        return self.fed(data, argv + ["-", sql], argv + [data.path, sql], quiet=quiet)

    def sum(self, data, column, threads):
        return self._ask(data, "select sum(%s) from data" % column.name)

    def every(self, data, threads):
        return self._ask(data, "select %s from data" % ", ".join(
            "sum({0}), min({0} + 0), max({0} + 0)".format(c) for c in WIDE))

    def where(self, data, threads, sink):
        return self._ask(data, "select * from data where status = '%s'" % KEPT,
                         sink == "/dev/null")


# Name in the table, program, class of commands.
PEERS = (
    ("duckdb", "duckdb", Duckdb),
    ("duckdb, as text", "duckdb", DuckdbText),
    ("duckdb in python", "python:duckdb", DuckdbModule),
    ("polars", "python:polars", Polars),
    ("chdb", "python:chdb", Chdb),
    ("pyarrow", "python:pyarrow", Pyarrow),
    ("xan", "xan", Xan),
    ("qsv", "qsv", Qsv),
    ("zsv sql", "zsv", Zsv),
    ("mawk", "mawk", Awk),
    ("gawk", "gawk", Awk),
    ("awk", "awk", Awk),
    ("datamash", "datamash", Datamash),
    ("mlr", "mlr", Miller),
)


def all_peers(programs):
    return [make(name, programs[program], programs)
            for name, program, make in PEERS if program in programs]
