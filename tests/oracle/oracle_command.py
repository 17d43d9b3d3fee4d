# SPDX-License-Identifier: MIT
"""A command line as the request that a model answers: which model, and where all are silent."""
import re

import oracle
import oracle_finish
import oracle_groups
import oracle_scan
import oracle_style
import oracle_window
from oracle_dialect import Dialect
from oracle_notation import Notation
from oracle_order import PERCENTILES, TRIMMED
from oracle_pair import PAIRS, SYMMETRIC
from oracle_request import COUNT_RECORDS, OPERATIONS, RANKS, RUNNING, TAKES_TEXT, WINDOWS, Request
from oracle_text import Unclear

TAKE_TEXT = TAKES_TEXT + ("running-count", "rolling-count", "lag", "lead", "fill-down")      # operations
SILENT = ("threads", "device", "progress")      # options that change nothing; the ways of a run have them, too
FLAGS = ("exclusive", "only")
WORDS = ("header", "format", "ragged", "invalid", "max-invalid")
MODELLED = (("where", "by", "over", "having", "agg", "share", "cumshare", "sort", "top", "cumsum", "headers", "missing", "skip-lines", "whitespace", "trim", "delimiter", "quote", "escape",
             "comment", "decimal", "thousands", "money", "percent", "durations", "sizes", "all", "digits", "round", "row-number", "byte-offset", "offsets", *RANKS, "pNN", TRIMMED[:-1])
            + WORDS + FLAGS + WINDOWS + tuple("running-" + o for o in RUNNING))
FORMATS = (b"auto", b"plain", b"csv", b"tsv", b"json", b"table")


def read(uses):
    """uses: (option, its name as typed, argument) in order -> (Request, the model that judges it); Unclear."""
    dialect, notation, how = {}, {}, {"missing": []}
    operations, news, flags, where, by, sort, top, having, layout = [], [], set(), None, None, None, None, None, []
    over = None
    for option, name, argument in uses:
        if ("COL" in option.argument or option.argument == "PAIRS") and name != "by" and re.search(rb"[(=]", argument):
            raise Unclear("an expression in the place of a column")
        if option.kind in ("REDUCE", "TEXT", "PAIR", "RECORDS"):
            layout.append(("operation", None))
        if name in ("agg", "share", "cumshare"):
            layout.append((name, argument))
        elif name == "having":
            having = argument
        elif name + ":" == TRIMMED:
            columns, part = oracle_window.split(argument)
            operations.append((TRIMMED + part.decode(), columns))
        elif name in OPERATIONS or name in PAIRS or name == COUNT_RECORDS:
            operations.append((name, argument))
        elif name.removeprefix("running-") in RUNNING and name.startswith("running-"):
            news.append((name.removeprefix("running-"), argument))
        elif name == "cumsum":
            news.append(("sum", argument))
        elif name in WINDOWS + RANKS + ("offsets", "byte-offset", "row-number"):
            news.append((name, argument))
        elif name in ("delimiter", "quote", "escape", "comment"):
            dialect[name] = {b"\\t": b"\t", b"none": None}.get(argument, argument)
        elif name == "skip-lines":
            dialect["skip_lines"] = int(argument)
        elif name in ("whitespace", "trim"):
            dialect[name] = True
        elif name in ("decimal", "thousands", "sizes"):
            notation[name] = argument
        elif name in ("money", "percent", "durations"):
            notation[name] = True
        elif name == "headers":
            how["header"] = "yes"
        elif name == "missing":
            how["missing"] += argument.split(b",")
        elif name in WORDS:
            how[name.replace("-", "_")] = argument if name == "max-invalid" else argument.decode()
        elif name == "all":
            how["everything"] = True
        elif name in FLAGS:
            flags.add(name)
        elif name == "where":
            where = argument
        elif name == "by":
            by = argument
        elif name == "over":
            over = argument
        elif name == "sort":
            sort = argument
        elif name == "top":
            top = int(argument)
        elif name == "digits":
            how["digits"] = int(argument)
        elif name == "round":
            how["half_up"] = argument == b"half-up"
        elif name not in SILENT or argument == b"always":
            raise Unclear("no model of --" + option.name)
    if how.get("format", "auto").encode() not in FORMATS or top == 0:
        raise Unclear("no model of this format")
    if len(operations) > 1 and any(o in SYMMETRIC and c == b"*" for o, c in operations):
        raise Unclear("a matrix beside other results")
    digits, half_up = how.pop("digits", None), how.pop("half_up", False)
    oracle_style.SHOWN = None if digits is None else oracle_style.Style(digits, half_up)
    if digits is not None and (sort is not None or top is not None or having is not None or any(kind != "operation" for kind, _ in layout)):
        raise Unclear("numbers that are computed with, and then shown")
    how.update(dialect=Dialect(**dialect), notation=Notation(**notation))
    computes = having is not None or any(kind != "operation" for kind, _ in layout)
    if computes and (by is None or news):
        raise Unclear("results of all records that are computed of others, or no results")
    if by is not None:
        if news and sort is not None:
            raise Unclear("an order of records")
        if re.search(rb"[-(=+*/'`]", re.sub(rb"(^|,)[0-9]*-[0-9]*(?=,|$)", b"", by)):
            raise Unclear("a key that may be an expression")
        if b'"' not in by:
            by = by.replace(b", ", b",")    # as hostile_request.spell_keys joins them; no name of its begins with a blank
        if any(o in SYMMETRIC and c == b"*" for o, c in operations):
            raise Unclear("a matrix by groups")
        finish = oracle_finish.Finish(layout, having, sort) if computes or (sort and re.search(rb"[-,+*/()%`]", sort[1:])) else None
        return oracle_groups.Groups(by, sort, top, news, operations, finish, where=where, over=over, exclusive="exclusive" in flags,
                                    only="only" in flags, **how), oracle_groups
    if sort is not None or top is not None:
        raise Unclear("an order of no groups")
    if news or where is not None:
        return oracle_scan.Scan(news, where, "exclusive" in flags, "only" in flags, operations=operations, over=over, **how), oracle_scan
    return Request(operations, **how), oracle
