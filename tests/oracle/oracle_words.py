# SPDX-License-Identifier: MIT
"""Tables of -W: how records stand below a header's words. The chapter CSV of gpustat(1).

Lines are bytes without line ends. line_up() gives a Layout, None where every line is cut at its blanks, or MISALIGNED.
"""
import re

from oracle_text import Unclear

LOOK = 100
MISALIGNED = "misaligned"


def words(line):
    """[(text, left, right)]: the columns of each word."""
    if re.search(rb"[^\t -~]", line):
        raise Unclear("columns of other characters")
    spread = line.decode().expandtabs(8)
    return [(m[0].encode(), m.start(), m.end()) for m in re.finditer(r"[^ ]+", spread)]


def count_words(line):
    """However odd its characters are: only blanks and tabs end a word."""
    return len(re.findall(rb"[^ \t]+", line))


def meets(word, name):
    return word[1] < name[1] and word[2] > name[0]


def below(left, right, name):
    return left == name[0] or right == name[1] or name[0] < left < right < name[1]


class Layout:
    def __init__(self, names, by_words, by_columns, rest):
        self.names, self.by_words, self.by_columns, self.rest = names, by_words, by_columns, rest
        self.shorter_fails = False

    def columns(self, line):
        """The fields that stand below the names; None where the words do not."""
        names, found, end = self.names, {}, 0
        text = line.decode()
        here = words(line)
        spans = [(m.start(), m.end()) for m in re.finditer(r"[^ \t]+", text)]
        groups = []
        for k, word in enumerate(here):
            if word[1] == names[-1][0]:
                groups.append(None)
                rest = text[spans[k][0]:].rstrip(" \t").encode()
                break
            if k and word[1] - here[k - 1][2] == 1:
                groups[-1].append(k)
            else:
                groups.append([k])
        values = []                                 # (name, first word, last word)
        for group in groups:
            if group is None:
                continue
            hits = [[i for i, n in enumerate(names) if meets(here[k], n)] for k in group]
            if any(len(h) > 1 for h in hits):
                return None
            met = sorted({h[0] for h in hits if h})
            if not met:
                return None
            if len(met) == 1:
                values.append((met[0], group[0], group[-1]))
                continue
            if not all(hits):
                return None
            for name in met:
                of = [k for k, h in zip(group, hits) if h == [name]]
                if len(of) > 1 and (here[of[0]][1], here[of[-1]][2]) != tuple(names[name]):
                    return None
                values.append((name, of[0], of[-1]))
        last = -1
        for name, a, b in values:
            lacking = name - last - (last < 0)
            if name <= last or not below(here[a][1], here[b][2], names[name]) or spans[a][0] - end < lacking:
                return None
            found[name] = text[spans[a][0]:spans[b][1]].encode()
            last, end = name, spans[b][1]
        if groups and groups[-1] is None:
            name = len(names) - 1
            at = spans[sum(len(g) for g in groups if g)][0]
            if name <= last or at - end < name - last - (last < 0):
                return None
            found[name], last = rest, name
        return tuple(found.get(i, b"") for i in range(last + 1)) if last >= 0 else None

    def pushed(self, line):
        """May a record be cut at its blanks, though values are wider than their columns?"""
        wider, here = 0, words(line)
        for i, ((left, right), word) in enumerate(zip(self.names, here)):
            if i + 1 == len(self.names):
                return left <= word[1] <= left + wider
            before = self.names[i - 1][1] if i else 0
            if not below(word[1], word[2], (left, right)) and not (word[2] > right and before <= word[1] < right + wider):
                return False
            wider = max(wider, word[2] - right)
        return False

    def shifted(self, line):
        """Do words stand below the names, but the first one not below the first, which has blanks before it?"""
        if self.names[0][0] == 0:
            return False
        here = words(line)
        return not meets(here[0], self.names[0]) and any(meets(w, name) for w in here for name in self.names)

    def cut(self, line):
        """The fields of a record, or None: they do not stand below the header."""
        n = len(self.names)
        if not self.by_words:
            return self.columns(line)
        plain = at_blanks(line, n)
        nwords = count_words(line)
        if nwords == n and not self.shifted(line):
            return plain
        found = self.columns(line) if self.by_columns else None
        if found is not None or nwords == n:
            return found
        if nwords < n:
            return None if self.shorter_fails else plain
        return plain if self.rest and self.pushed(line) else None


def at_blanks(line, n):
    """Up to n fields; the last takes the rest."""
    line = line.strip(b" \t")
    return tuple(re.split(rb"[ \t]+", line, maxsplit=n - 1) if n > 1 else [line])


def padded(header):
    here = words(header)
    return header[:1] in (b" ", b"\t") or any(b[1] - a[2] > 1 for a, b in zip(here, here[1:]))


def find(lines):
    """The Layout of names below which all lines stand, or None."""
    header, records = lines[0], lines[1:]
    here = words(header)
    n = len(here)
    if not padded(header):
        return None
    close = [b[1] - a[2] == 1 for a, b in zip(here, here[1:])]
    joined, alone, leads = [False] * n, [False] * n, []
    for record in records:
        lead = []
        for word in words(record):
            if word[2] <= here[0][1]:
                lead.append(word)
                continue
            if lead and word[1] - lead[-1][2] > 1:
                leads.append((lead[0][1], lead[-1][2]))
            lead = []
            met = [i for i in range(n) if meets(word, here[i][1:])]
            if word[1] == here[-1][1]:
                alone[-1] = True
                break
            if len(met) == 1:
                alone[met[0]] |= below(word[1], word[2], here[met[0]][1:])
            for i in met[:-1]:
                if not close[i]:
                    return None
                joined[i] = True
    names = [[min(a for a, _ in leads), max(b for _, b in leads)]] if leads else []
    for i, word in enumerate(here):
        goes_on = i and here[i - 1][0][:1].isupper() and word[0][:1].islower()
        if i and close[i - 1] and (joined[i - 1] or not alone[i - 1] or not alone[i] or goes_on):
            names[-1][1] = word[2]
        else:
            names.append([word[1], word[2]])
    layout = Layout(names, False, True, True)
    if len(names) < 2 or any(layout.columns(line) is None for line in lines):
        return None
    return layout


def agrees(layout, records):
    n = len(layout.names)
    return all(len(layout.columns(r)) == n and layout.columns(r) == at_blanks(r, n) for r in records)


def line_up(header, records):
    """records: of the header's file, below it."""
    if not records:
        return None
    n, m = count_words(header), count_words(records[0])     # one column takes the whole line
    first = find([header, records[0]])
    if first and len(first.names) == n and agrees(first, records[:1]):
        first.by_words = True
        return first
    plain = Layout([w[1:] for w in words(header)], True, False, padded(header))
    wide = m == n and plain.pushed(records[0])      # a value wider than its column, rather than one of several words
    if not wide and (first or m != n):
        found = find([header] + records[:LOOK])
        if found:
            found.by_words = agrees(found, records[:LOOK])
        if found:
            return found
        if first and any(count_words(r) != n or plain.shifted(r) for r in records[:LOOK]):      # then the record that does not stand below is the error
            return first
    if n == 1:
        return None
    if m == n:
        if not plain.shifted(records[0]):
            return plain
    elif m > n and plain.rest and plain.pushed(records[0]):
        return plain
    return MISALIGNED
