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
    groups(data, key, threads, sink)  logs by one of its columns: the key, the number of records, the sum of bytes,
                                      the mean of seconds
    accounts(data, threads, sink)     ledger by account: the account, the sum of amount
    running_groups(data, threads, sink)   logs with the running sum of `bytes` by host behind each record, in their order

Each returns a Command. sink: /dev/null, or /dev/stdout where the records themselves are wanted.
Tools that split at every comma, quoted or not, are given the field where these inputs have the
column; a user would have to know that.
"""
import shlex

from inputs import ACCOUNT, HOST, KINDS, PATH, SECONDS, STATUS, WIDE_NCOLUMNS, unpacker
from measure import Command

KEPT = "404"
NROLLED = 10
VALUE = KINDS["narrow"]
BYTES = KINDS["logs"]
AMOUNT = KINDS["ledger"]
WIDE = ["c%d" % (i + 1) for i in range(WIDE_NCOLUMNS)]
PAIRS = list(zip(WIDE[0:10:2], WIDE[1:10:2]))


class Peer:
    """name: in the table. threaded: its number of threads can be set."""
    threaded = False
    reads_gz = False  # by itself

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


class Awk(Peer):
    def _ask(self, data, script, quiet=False):
        argv = [self.path, "-F,", script]
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

    def groups(self, data, key, threads, sink):
        fields = '$%d "," $%d' % (key.field, key.field + 1) if key == PATH else "$%d" % key.field
        return self._ask(data, 'NR == 1 { print "key,count,sum,mean"; next } { k = %s; n[k]++; s[k] += $%d; t[k] += $%d }'
                         ' END { for (k in n) printf "%%s,%%d,%%.17g,%%.17g\\n", k, n[k], s[k], t[k] / n[k] }'
                         % (fields, BYTES.field, SECONDS.field), sink == "/dev/null")

    def accounts(self, data, threads, sink):
        # a line of less fields is the rest of a memo
        return self._ask(data, 'NR == 1 { print "key,sum"; next } NF > 3 { s[$%d] += $%d }'
                         ' END { for (k in s) printf "%%s,%%.17g\\n", k, s[k] }' % (ACCOUNT.field, AMOUNT.field),
                         sink == "/dev/null")

    def running_groups(self, data, threads, sink):
        return self._ask(data, 'NR == 1 { print $0 ",running_sum"; next } { s[$%d] += $%d; print $0 "," s[$%d] }'
                         % (HOST.field, BYTES.field, HOST.field), sink == "/dev/null")

    def where(self, data, threads, sink):
        return self._ask(data, "NR == 1 || $%d == %s" % (STATUS.field, KEPT), sink == "/dev/null")


class Datamash(Peer):
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


    def groups(self, data, key, threads, sink):
        """Sorts, as it has to. It has no names for fields beyond the header's, so another program prints a header."""
        fields = "%d,%d" % (key.field, key.field + 1) if key == PATH else str(key.field)
        ask = [self.path, "-s", "-t,", "--header-in", "-g", fields, "count", "1", "sum", str(BYTES.field),
               "mean", str(SECONDS.field)]
        return Command("{ echo key,count,sum,mean; %s < %s; }" % (shlex.join(ask), shlex.quote(data.path)), {}, None,
                       sink == "/dev/null")


class Miller(Peer):
    reads_gz = True

    def _ask(self, data, verb, quiet=False):
        argv = [self.path, "--icsv", "--ocsv", *verb]
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

    def groups(self, data, key, threads, sink):
        return self._ask(data, ["stats1", "-a", "count,sum,mean", "-f", "bytes,seconds", "-g", key.name, "then", "cut", "-o",
                                "-f", key.name + ",bytes_count,bytes_sum,seconds_mean"], sink == "/dev/null")

    def accounts(self, data, threads, sink):
        return self._ask(data, ["stats1", "-a", "sum", "-f", AMOUNT.name, "-g", ACCOUNT.name], sink == "/dev/null")

    def running_groups(self, data, threads, sink):
        return self._ask(data, ["step", "-a", "rsum", "-f", BYTES.name, "-g", HOST.name], sink == "/dev/null")

    def where(self, data, threads, sink):
        return self._ask(data, ["filter", "$status == " + KEPT], sink == "/dev/null")


class Duckdb(Peer):
    threaded = reads_gz = True
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

    def groups(self, data, key, threads, sink):
        return self._copy(data, threads, sink, "SELECT %s, count(*), sum(bytes), avg(seconds) FROM %%s GROUP BY 1" % key.name)

    def accounts(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT account, sum(amount) FROM %s GROUP BY 1")

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
                "c.execute('SET threads=%d')\n%s" % (threads, show % sql)]


class DuckdbText(Duckdb):
    """Records are not changed: as text they need no conversion."""
    table_options = ", all_varchar = true"
    sum = every = deviations = order = covariances = running = groups = accounts = running_groups = None

    def where(self, data, threads, sink):
        return self._copy(data, threads, sink, "SELECT * FROM %%s WHERE status = '%s'" % KEPT)


class Polars(Peer):
    threaded = reads_gz = True

    def _ask(self, data, threads, expression, quiet=False):
        """expression: Python, of a lazy frame t."""
        def argv(source):
            return [self.path, "-c", "import sys, polars as pl\nt = %s\n%s" % (source, expression)]
        return self.fed(data, argv("pl.read_csv(sys.stdin.buffer).lazy()"),
                        argv("pl.scan_csv(%r)" % data.path), {"POLARS_MAX_THREADS": str(threads)},
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

    def _by(self, data, threads, sink, key, results):
        return self._ask(data, threads, "c = pl.col\nt.group_by(%r).agg(%s).sink_csv(%r)" % (key.name, results, sink))

    def groups(self, data, key, threads, sink):
        return self._by(data, threads, sink, key, "pl.len(), c('bytes').sum(), c('seconds').mean()")

    def accounts(self, data, threads, sink):
        return self._by(data, threads, sink, ACCOUNT, "c('amount').sum()")

    def running_groups(self, data, threads, sink):
        return self._ask(data, threads, "t.with_columns(r=pl.col('bytes').cum_sum().over('host')).sink_csv(%r)" % sink)

    def where(self, data, threads, sink):
        return self._ask(data, threads, "t.filter(pl.col('status') == %s).sink_csv(%r)"
                         % (KEPT, sink))


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
