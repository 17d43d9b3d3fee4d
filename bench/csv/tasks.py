# SPDX-License-Identifier: MIT
"""The tasks: the questions, and the contestants of each.

A task is one question about one input. Its contestants are gpustat in several ways, every peer
that can answer it, and limits: programs that only read, count lines or unpack, and so say how
fast anything could be.
"""
import collections
import os
import shlex

import inputs
import peers
from measure import Command

# question: a method of a Peer. column: of sum, what is summed; of groups, a peers.Grouping; of distinct, names.
Task = collections.namedtuple("Task", "name question kind way column title")

# role: "gpustat", "peer" or "limit". threads: as set; None if not set.
# answers: the output holds the numbers to compare. check: None, or a Command whose output does.
Contestant = collections.namedtuple("Contestant", "name role threads command answers check")


def _groups(name, kind, keys, results, title):
    """keys, results: as words, "median v3, stddev v3"."""
    grouping = peers.Grouping([inputs.COLUMNS[key] for key in keys.split()],
                              [peers.Result(word.split()[0], [inputs.COLUMNS[of] for of in word.split()[1:]])
                               for word in results.split(", ")])
    return Task(name, "groups", kind, "file", grouping,
                "%s by %s, %s (%s), to /dev/null" % (results, ", ".join(keys.split()), kind, title))


def _asked(name, kind, title, *words):
    return Task(name, "asked", kind, "file", peers.Asked(*words), "%s, %s, to /dev/null" % (title, kind))


def _sum(kind, way="file", column=None, name=None, title=""):
    column = column or inputs.KINDS[kind]
    return Task(name or "sum-" + kind, "sum", kind, way, column,
                "sum of %s, %s%s" % (column.name, kind, title))


TASKS = (
    _sum("logs"),
    _sum("narrow"),
    _sum("wide", title=" (50 columns)"),
    _sum("ledger", title=" (newlines in quotes)"),
    _sum("floats", title=" (17 digits)"),
    _sum("floats", column=inputs.COLUMNS["y"], name="sum-exponents", title=" (exponents)"),
    Task("all-wide", "every", "wide", "file", None, "sum, min, max of all 50 columns, wide"),
    Task("stddev-wide", "deviations", "wide", "file", None, "standard deviation of all 50 columns, wide"),
    Task("order-narrow", "order", "narrow", "file", None, "median, 99th percentile and different values of value, narrow"),
    Task("cov-wide", "covariances", "wide", "file", None, "covariances of 10 columns, two by two, wide"),
    _sum("logs", "pipe", name="pipe-logs", title=" from a pipe"),
    _sum("narrow", "pipe", name="pipe-narrow", title=" from a pipe"),
    _sum("logs", "gz", name="gz-logs", title=".csv.gz of one member"),
    _sum("logs", "bgz", name="bgz-logs", title=", packed by bgzip"),
    _sum("logs", "zst", name="zst-logs", title=".csv.zst"),
    Task("cumsum-narrow", "running", "narrow", "file", None,
         "running sum of value behind each record, narrow, to /dev/null"),
    Task("delta-narrow", "changes", "narrow", "file", None, "value less the one before, narrow, to /dev/null"),
    Task("lag-narrow", "lagged", "narrow", "file", None, "value of the record before, narrow, to /dev/null"),
    Task("rolling-narrow", "rolling", "narrow", "file", None, "mean of the last ten values, narrow, to /dev/null"),
    Task("where-logs", "where", "logs", "file", None,
         "the records of logs with status 404, a tenth, to /dev/null"),
    Task("distinct-ids", "distinct", "narrow", "file", ["id"], "different values of id, narrow: as many as records"),
    Task("distinct-wide", "distinct", "wide", "file", peers.WIDE, "different values of each of the 50 columns, wide"),
    *(_groups("by-" + key, "logs", key, "count, sum bytes, mean seconds", title)
      for key, title in (("status", "6 groups"), ("host", "a group for nearly each record"),
                         ("path", "a group for nearly each record, quoted"))),
    _groups("by-account", "ledger", "account", "sum amount", "1000 groups; newlines in quotes"),
    # the public database benchmark's questions (db-benchmark); q8 asks for records
    _groups("h2o-q1", "keys", "id1", "sum v1", "100 groups"),
    _groups("h2o-q2", "keys", "id1 id2", "sum v1", "10,000 groups"),
    _groups("h2o-q3", "keys", "id3", "sum v1, mean v3", "a group for 100 records"),
    _groups("h2o-q4", "keys", "id4", "mean v1, mean v2, mean v3", "100 groups"),
    _groups("h2o-q5", "keys", "id6", "sum v1, sum v2, sum v3", "a group for 100 records"),
    _groups("h2o-q6", "keys", "id4 id5", "median v3, stddev v3", "10,000 groups"),
    _groups("h2o-q7", "keys", "id3", "max v1, min v2", "a group for 100 records"),
    _groups("h2o-q9", "keys", "id2 id4", "corr v1 v2", "10,000 groups"),
    _groups("h2o-q10", "keys", "id1 id2 id3 id4 id5 id6", "sum v3, count", "a group for each record"),
    _groups("brc", "stations", "station", "min temperature, mean temperature, max temperature",
            "the billion-row challenge; 413 groups"),
    _asked("by-hour", "logs", "requests per hour", ["--by", 'trunc(time, "hour")', "--count-records"],
           "SELECT date_trunc('hour', time) AS h, count(*) AS n {} GROUP BY h",
           "group_by(c('time').str.slice(0, 13)).agg(n=pl.len())", "2"),
    _asked("by-format", "logs", "requests per hour as text", ["--by", 'format(time, "%F %H:00")', "--count-records"],
           "SELECT strftime(time, '%%Y-%%m-%%d %%H:00') AS h, count(*) AS n {} GROUP BY h",
           "group_by(c('time').str.to_datetime().dt.strftime('%Y-%m-%d %H:00')).agg(n=pl.len())", "2"),
    _asked("by-substr", "logs", "requests by the first letters of path", ["--by", "substr(path, 1, 8)", "--count-records"],
           "SELECT substr(path, 1, 8) AS p, count(*) AS n {} GROUP BY p",
           "group_by(c('path').str.slice(0, 8)).agg(n=pl.len())", "2"),
    _asked("by-extract", "logs", "requests by a regular expression of path", ["--by", 'extract(path, "^/[a-z]+")', "--count-records"],
           "SELECT regexp_extract(path, '^/[a-z]+') AS p, count(*) AS n {} GROUP BY p",
           "group_by(c('path').str.extract('^(/[a-z]+)')).agg(n=pl.len())", "2"),
    _asked("where-arithmetic", "logs", "records of a condition with arithmetic", ["--where", "bytes * 2 > status * 1000 + 1500000"],
           "SELECT * {} WHERE bytes * 2 > status * 1000 + 1500000",
           "filter(c('bytes') * 2 > c('status') * 1000 + 1500000)", str(inputs.KINDS["logs"].number)),
    _asked("share-narrow", "narrow", "the share of value in all", ["--let", "share = value / sum(value)"],
           "SELECT *, value / sum(value) OVER () AS share {}",
           "with_columns(share=c('value') / c('value').sum())", "4"),
    Task("running-by-host", "running_groups", "logs", "file", None,
         "running sum of bytes by host behind each record, logs, to /dev/null"),
)

# Questions whose answers are records or groups, which are summed up: these columns of them; of groups the results.
STREAMS = {"running": "4", "changes": "4", "lagged": "4", "rolling": "4", "where": str(inputs.KINDS["logs"].number), "groups": None, "asked": None,
           "running_groups": "8"}
SIMD = ("avx2", "portable")  # values of GPUSTAT_SIMD, besides the machine's own


def gpustat_options(task):
    """The options that ask gpustat this task's question."""
    if task.question == "sum":
        return ["--sum", task.column.name]
    if task.question == "groups":
        options = ["--by", ",".join(key.name for key in task.column.keys)]
        for result in task.column.results:
            options += (["--" + result.operation, ":".join(column.name for column in result.columns)] if result.columns
                        else ["--count-records"])
        return (["--delimiter", inputs.delimiter(task.kind)] if task.kind in inputs.DELIMITERS else []) + options
    if task.question == "distinct":
        return ["--count-distinct", ",".join(task.column)]
    if task.question == "asked":
        return task.column.gpustat
    value, size = peers.VALUE.name, inputs.KINDS["logs"].name
    return {"every": ["--sum", "*", "--min", "*", "--max", "*"],
            "deviations": ["--stddev", "*"],
            "order": ["--median", value, "--p99", value, "--count-distinct", value],
            "covariances": ["--cov", ",".join("%s:%s" % pair for pair in peers.PAIRS)],
            "running": ["--cumsum", value],
            "changes": ["--delta", value],
            "lagged": ["--lag", value],
            "rolling": ["--rolling-mean", "%s:%d" % (value, peers.NROLLED)],
            "running_groups": ["--by", peers.HOST.name, "--cumsum", size],
            "where": ["--where", "status = " + peers.KEPT]}[task.question]


def gpustat_command(path, task, data, threads, simd=None, redirect=False, under=()):
    """gpustat on the CPU alone.

    redirect: the file, packed or not, is standard input. under: words before it, as valgrind's.
    """
    argv = [*under, path, "--device", "cpu", "--threads", str(threads), *gpustat_options(task)]
    env = {"GPUSTAT_SIMD": simd} if simd else {}
    quiet = task.question in STREAMS
    if data.way == "pipe":
        line = "cat %s | %s" % (shlex.quote(data.path), shlex.join(argv))
        return Command(line, env, None, quiet)
    if redirect:
        return Command(argv, env, data.path, quiet)
    return Command(argv + [data.path], env, None, quiet)


def stream_check(path, task, command):
    """A command that sums up the records that `command` prints exactly, with gpustat."""
    text = command.argv if isinstance(command.argv, str) else shlex.join(command.argv)
    columns = STREAMS[task.question]
    if task.question == "asked":
        columns = task.column.answer
    elif columns is None:
        columns = "%d-%d" % (len(task.column.keys) + 1, len(task.column.keys) + len(task.column.results))
    judge = [path, "--device", "cpu", "--header", "yes", "--sum", columns]
    if task.question != "changes":  # Miller's first change is 0, others have none
        judge += ["--count", columns]
    return Command("%s | %s" % (text, shlex.join(judge)), command.env, command.stdin)


def _gpustat(path, task, data, threads):
    streams = task.question in STREAMS

    def one(name, nthreads, **how):
        command = gpustat_command(path, task, data, nthreads, **how)
        check = stream_check(path, task, command) if streams else None
        return Contestant(name, "gpustat", nthreads, command, not streams, check)
    yield one("gpustat", threads)
    if threads > 1:
        yield one("gpustat", 1)
    if data.way == "file":
        yield one("gpustat < file", threads, redirect=True)
        for simd in SIMD:
            yield one("gpustat, " + simd, threads, simd=simd)
    if data.way in inputs.PACKERS:
        yield from _gpustat_unpacking_a_pipe(path, task, data, threads)


def _gpustat_unpacking_a_pipe(path, task, data, threads):
    piped = gpustat_command(path, task, data._replace(way="pipe"), threads)
    yield Contestant("cat | gpustat", "gpustat", threads, piped, True, None)


def _unpacked_by(data, command):
    """The prefix of a tool that cannot unpack the input itself: "igzip | "."""
    if data.way not in inputs.PACKERS or not isinstance(command.argv, str):
        return ""
    return os.path.basename(shlex.split(command.argv)[0]) + " | "


def _peers(path, task, data, threads, programs):
    counts = sorted({threads, 1}, reverse=True)
    for peer in peers.all_peers(programs):
        ask = peer.can(task) and getattr(peer, task.question)
        for nthreads in counts if peer.threaded and data.way == "file" else [threads]:
            shown = nthreads if peer.threaded else None
            args = (data,) if task.column is None else (data, task.column)
            if ask and task.question not in STREAMS:
                command = ask(*args, nthreads)
                yield Contestant(_unpacked_by(data, command) + peer.name, "peer", shown, command,
                                 True, None)
            elif ask:
                check = stream_check(path, task, ask(*args, nthreads, "/dev/stdout"))
                yield Contestant(peer.name, "peer", shown, ask(*args, nthreads, "/dev/null"),
                                 False, check)


def _limits(generate, data, threads, programs):
    """Pairs (name, argv that reads a file or standard input)."""
    if data.way == "file":
        yield "read", Command([generate, "--read"], {}, data.path, True)
        yield "wc -l", Command([programs["wc"], "-l", data.path], {}, None, True)
    if data.way == "pipe":
        for name, option in (("cat | read", "--read"), ("cat | read, pipe of 1 MiB",
                                                        "--read=1048576")):
            line = "cat %s | %s %s" % (shlex.quote(data.path), shlex.quote(generate), option)
            yield name, Command(line, {}, None, True)
    unpackers = {"gz": ("igzip", "libdeflate-gunzip", "pigz", "zcat"), "zst": ("zstd",),
                 "bgz": ("bgzip", "igzip", "libdeflate-gunzip")}
    for name in unpackers.get(data.way, ()):
        if name in programs:
            options = {"zcat": [], "libdeflate-gunzip": ["-c"],
                       "bgzip": ["-@%d" % threads, "-dc"]}.get(name, ["-dc"])
            yield (" ".join([name] + options),
                   Command([programs[name], *options, data.path], {}, None, True))


def contestants(gpustat, generate, task, data, threads, programs):
    """All of one task, gpustat with all threads first. gpustat, generate: paths."""
    limits = [Contestant(name, "limit", None, command, False, None)
              for name, command in _limits(generate, data, threads, programs)]
    return (list(_gpustat(gpustat, task, data, threads)) + limits
            + list(_peers(gpustat, task, data, threads, programs)))
