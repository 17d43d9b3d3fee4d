# SPDX-License-Identifier: MIT
"""Random requests for groups (--by) over a hostile table that has columns of keys, the same for the same state of rng.

prepare() and make_request() are for hostile.make_case(). Keys repeat, so that groups have several records: most tables
have few, some one for each record. Among them are quotes, delimiters, line ends, bytes that are no UTF-8, missing values,
numbers in several spellings, and lengths around those at which a key may be kept in another way.
"""
import hostile
import oracle_window
from hostile_scan import spell_columns, spell_condition, spell_order
from oracle_groups import Groups
from oracle_request import COUNT_RECORDS, RANK, RUNNING, WINDOWS
from oracle_pair import PAIRS

KEYS = (b"a", b"a", b"b", b"A", b"", b" ", b" a", b"a ", b"x,y", b"x\ny", b"x\r\ny", b'say "hi"', b'"', b"\xff", b"\xff\xfe",
        b"\xc3", "größe".encode(), b"10", b"9", b"10.0", b"-1", b"1e1", b"007", b"7", b"NA", b"null", b"-", b"tab\t",
        b"a;b", b"a|b", b"'", b"\\", b"#", b"=1+1", b"404", b"200")
LENGTHS = (6, 7, 8, 9, 14, 15, 16, 17, 23, 31, 32, 33, 63, 64, 65, 200)
PREPARED = 10   # records of ten tables: as many keys as records in one of them


def offered(help_text):
    """Does this --help name --by?"""
    return b"--by " in help_text


def runs_offered(help_text):
    return b"--row-number " in help_text


def random_key(rng, shape):
    form = rng.randrange(8)
    if form < 4:
        return rng.choice(KEYS + tuple(shape.missing))
    if form == 4:
        return b"k" * rng.choice(LENGTHS) + rng.choice((b"", b"", b"1", b"2"))
    if form == 5:
        return bytes(rng.randrange(1, 256) for _ in range(rng.randrange(1, 20)))
    if form == 6:
        return rng.choice((b"user", b"host-", b"10.0.0.")) + b"%d" % rng.randrange(1000)
    return hostile.number_text(rng, rng.choice(("small", "decimal"))).encode()


def random_keys(rng, shape):
    form = rng.randrange(PREPARED)
    if form == 0:
        return [b"%s%d" % (random_key(rng, shape)[:40], i) for i in range(5000)]
    return [random_key(rng, shape) for _ in range(rng.choice((1, 2, 3, 5, 5, 10, 30)))] + [b"k\0"] * shape.nul


def prepare(rng, shape):
    """Makes one to three of the columns such of keys."""
    shape.keys = random_keys(rng, shape)
    for k in rng.sample(range(shape.n), min(shape.n, rng.choice((1, 1, 1, 2, 3)))):
        if shape.n > 1 or rng.randrange(4) == 0:
            shape.kinds[k] = "key"


def spell_keys(rng, shape):
    pool = [k for k in range(shape.n) if shape.kinds[k] == "key"]
    if not pool or rng.randrange(8) == 0:
        pool = list(range(shape.n))     # numbers, too
    if rng.randrange(12) == 0:
        low = rng.randrange(shape.n)
        return b"%d-%d" % (low + 1, rng.randrange(low, shape.n) + 1)
    chosen = rng.sample(pool, rng.randrange(1, min(3, len(pool)) + 1))
    return b",".join(hostile.spell_item(rng, k, shape.n, shape.names) for k in chosen)


def spell_sort(rng, shape, operations):
    """A result as it is printed, or an operation's name; now and then what there is not."""
    labels = shape.names or [b"col%d" % (k + 1) for k in range(shape.n)]
    form, operation = rng.randrange(8), rng.choice(operations or [("count", None)])[0]
    if not operations:
        name = rng.choice((b"count", b"count", b"count", b"nosuch", rng.choice(labels)))
    elif operation == COUNT_RECORDS or form == 0:
        name = rng.choice((b"count", b"records", b"nosuch", b"count-records"))
    elif form < 4:
        label = b"%s:%s" % (rng.choice(labels), rng.choice(labels)) if operation in PAIRS else rng.choice(labels)
        name = operation.replace("-", "_").encode() + b"(" + label + b")"
    elif form < 6:
        name = rng.choice((operation, operation.replace("-", "_"))).encode()
    else:
        name = rng.choice(labels)
    return rng.choice((b"", b"-")) + name


def results(rng, shape, common):
    operations = hostile.spell_operations(rng, shape, rng.choice((0, 1, 1, 1, 2, 3, 4)))
    operations = [(o, c) for o, c in operations if not (o in PAIRS and c == b"*")]      # a matrix is refused
    about = shape.n, shape.names, shape.kinds, shape.missing
    where = spell_condition(rng, rng.randrange(3), *about) if rng.randrange(5) == 0 else None
    stars = any(c == b"*" for _, c in operations)   # what it means is known at the end, so --sort is mostly unclear
    sort = spell_sort(rng, shape, operations) if rng.randrange(30 if stars else 3) == 0 else None
    return Groups(spell_keys(rng, shape), sort,
                  rng.choice((1, 2, 3, 10, 10 ** 6)) if rng.randrange(4) == 0 else None, operations=operations, where=where,
                  format=rng.choice(("auto", "auto", "csv", "tsv", "plain", "json", "json", "table")), **common)


def new_columns(rng, shape):
    about, news = (shape.n, shape.names, shape.kinds), []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        form = rng.randrange(8)
        if form == 5:
            news.append(("offsets", spell_condition(rng, rng.randrange(3), *about, shape.missing)))
        elif form > 5:
            news.append((rng.choice(("row-number", "row-number", "byte-offset")), None))
        else:
            operation = rng.choice(RUNNING + WINDOWS + (RANK,))
            columns = spell_order(rng, operation) + spell_columns(rng, operation, *about)
            news.append((operation, oracle_window.spell(rng, operation, columns) if operation in WINDOWS else columns))
    return news


def running(rng, shape, common):
    news = new_columns(rng, shape)
    about = shape.n, shape.names, shape.kinds, shape.missing
    where = spell_condition(rng, rng.randrange(3), *about) if rng.randrange(4) == 0 else None
    states = any(o in RUNNING or o == "row-number" for o, _ in news) and not any(o in WINDOWS or o == RANK for o, _ in news)
    return Groups(spell_keys(rng, shape), news=news, where=where, exclusive=states and rng.randrange(3) == 0,
                  only=rng.randrange(4) == 0, **common)


def make_request(rng, shape):
    """Results, or running columns: half of each."""
    return rng.choice((results, running))(rng, shape, hostile.common_of(rng, shape))


def make_results(rng, shape):
    return results(rng, shape, hostile.common_of(rng, shape))


def make_running(rng, shape):
    return running(rng, shape, hostile.common_of(rng, shape))
