# SPDX-License-Identifier: MIT
"""The manual's DEVICES says what GPUs do, and the program does that: each row is tried with --explain, which answers
from the program's own table (src/run/beyond_gpus.c), with and without a GPU."""
import re

import harness
from harness import fixture

TABLE = b"a,b,k,t\n1,2,x,u\n3,4,y,v\n"
TOO_SMALL = "CPU only: the input is too small for GPUs to pay"  # and a GPU could do it
ARGUMENTS = {"": "", "COLS": "=a", "COL:WIDTH": "=a:1", "PAIRS": "=a:b", "COLS[:N]": "=a", "COLS:N": "=a:2", "COLS:F": "=a:0.1",
             "COLS:A": "=a:0.5", "[-]COLS": "=a", "[-]COLS:N": "=a:4", "EXPR": "=a > 0", "[NAME=]EXPR": "=sum(a)"}

# A request for each reason, in the table's order.
EXAMPLES = {
    "CPU only: no GPU reads --whitespace": ["-W", "-H", "--sum=1"],
    "CPU only: no GPU reads --trim": ["--trim", "--sum=a"],
    "CPU only: no GPU reads --escape": ["--escape=\\", "--sum=a"],
    "CPU only: no GPU reads --comment": ["--comment=#", "--sum=a"],
    "CPU only: no GPU reads numbers in this notation": ["--money", "--sum=a"],
    "CPU only: no GPU stops at --head": ["--head=1", "--cumsum=a"],
    "CPU only: no GPU chooses records": ["--tail=1"],
    "CPU only: no GPU sorts records": ["--sort=1"],
    "CPU only: no GPU copies records": ["--rename=a=z"],
    "CPU only: no GPU joins columns by name": ["--union", "--sum=a"],
    "CPU only: no GPU prints records in a format": ["--cumsum=a", "--format=json"],
    "CPU only: no GPU prints numbers in a style": ["--cumsum=a", "--digits=2"],
    "CPU only: no GPU numbers records by group": ["--by=k", "--offsets=a > 1"],
    "CPU only: no GPU tells runs apart": ["--runs=k", "--sum=a"],
    "CPU only: no GPU keeps groups of an input that cannot be read again": ["--by=k", "--sum=a"],
    "CPU only: no GPU keeps all of this by group": ["--by=k", "--median=a"],
    "CPU only: no GPU evaluates this condition": ["--where=t ~ '^u+'", "--sum=a"],
    "CPU only: no GPU computes this column": ["--let=q=a/b", "--sum=q"],
    "CPU only: no GPU computes this result": ["--mode=t"],
    "CPU only: no GPU computes this new column": ["--lag=a"],
}


def read(*names):
    with open(harness.source(*names), encoding="utf-8") as f:
        return f.read()


def why(args, path=None):
    """What --explain says of the devices, without the number of threads."""
    r = harness.run(["--explain"] + args + ([path] if path else []), None if path else TABLE)
    match = re.search(r"^devices: ([^;\n]*)", r.out.decode("utf-8"), re.M)
    return match.group(1) if match else r.err.decode("utf-8")


def check_reasons(manual, path):
    reasons = re.findall(r'^\t+\{"(CPU only: [^"]*)",\s', read("src", "run", "beyond_gpus.c"), re.M)
    harness.is_(re.findall(r"^\.It\n(CPU only: .*)$", manual.replace("\\-", "-"), re.M), reasons,
                "the manual lists the reasons of the program's table, in its order")
    harness.is_(list(EXAMPLES), reasons, "each reason has a request")
    for reason, args in EXAMPLES.items():
        if "~" in " ".join(args) and not harness.has_patterns():
            harness.skip(" ".join(args), "built without PCRE2")
            continue
        harness.is_(why(args, None if "read again" in reason else path), reason, " ".join(args))


def operations():
    """Pairs (option, its argument) of all operations but those that choose or compute fields."""
    rows = re.findall(r'^OPERATION\(\w+, (\w+), "([^"]+)", "([^"]*)"', read("src", "query", "options.def"), re.M)
    return [(name, argument) for kind, name, argument in rows if kind not in ("LET", "FIELDS")]


def claims(manual):
    """{option: (all records, by group)} of the manual's table, each "yes" or "no"."""
    rows = re.findall(r"^\.It Fl (.*) Ta (yes|no) Ta (yes|no)$", manual, re.M)
    return {name.strip(" -"): (whole, by) for names, whole, by in rows for name in names.split(",")}


def check_operations(manual, path):
    table, names = claims(manual), [name for name, _ in operations()]
    harness.is_([name for name in table if name not in names], [], "the manual's table has operations only")
    for name, argument in operations():
        option = "--" + name.replace("NN", "90") + ARGUMENTS[argument]
        for args, claim in zip(([], ["--by=k"]), table.get(name, ("no", "no"))):
            answer = why([option] + args, path)
            refused = re.search("cannot go with --by|--by is for|is for groups", answer) and claim == "no"
            harness.ok(refused or (answer == TOO_SMALL if claim == "yes" else answer in EXAMPLES),
                       "%s: a GPU does it: %s" % (" ".join([option] + args), claim), answer)


MANUAL = re.search(r"^\.Sh DEVICES$.*?^\.Sh ", read("man", "gpustat.1"), re.M | re.S).group()
PATH = fixture("table.csv", TABLE)
check_reasons(MANUAL, PATH)
check_operations(MANUAL, PATH)
harness.done()
