# SPDX-License-Identifier: MIT
"""Runs one scan request in many ways: chunk sizes, threads, devices. Used by the tests of scans."""
import functools

import harness
import oracle_scan

CHUNKS = (1, 2, 3, 5, 7, 16, 64, None)
THREADS = (1, 2, 3, 7)


@functools.lru_cache(None)
def no_gpu():
    """The program's own reason why --device gpu cannot be used, or None where it can."""
    r = harness.run(["--device", "gpu", "--sum=1"], b"1\n")
    if r.status != 0 and b"no usable GPU" in r.err:
        return r.err.decode("utf-8", "replace").strip().split("\n")[-1]
    return None


def ways(start=0, chunks=CHUNKS):
    """Triples (chunk, threads, device); `start` rotates the thread counts so that each is used with each chunk size. A
    GPU takes a third of a second to start, so it runs with one chunk size, and with another in the next case."""
    out = [(c, THREADS[(start + i) % len(THREADS)], "cpu") for i, c in enumerate(chunks)]
    if not no_gpu():
        out += [(c, t, "gpu") for c, t, _ in [out[start % len(out)]]]
    return out


def holds(name, args, stdin, judge, chosen):
    """One TAP line, printed later: every way satisfies `judge` (as harness.agrees), and all say the same."""
    def verdict(results):
        wrong = [(r, judge(r)) for r in results if judge(r)]
        said = {(r.status, r.out, r.err) for r in results}

        def diagnosis():
            if not wrong:
                return "the ways differ: %s" % harness.short(sorted(said, key=repr))
            r, complaint = wrong[0]
            return "%d of %d runs are wrong: chunks %s\n%s\n%s" % (
                len(wrong), len(results), [r.chunk for r, _ in wrong], harness.describe(r, stdin), complaint)
        harness.ok(not wrong and len(said) == 1, name, diagnosis)
    harness.run_meanwhile([dict(args=list(args), stdin=stdin, chunk=c, threads=t, device=d) for c, t, d in chosen], verdict)


def prints(want):
    """For holds(): status 0, these bytes, no word on stderr."""
    return harness.exactly(want)


def breaks(want, *parts):
    """For holds(): status 1 after exactly `want`, and a message with all of `parts`."""
    want = want if isinstance(want, bytes) else want.encode()

    def judge(r):
        if r.status == 1 and r.out == want and r.err.startswith(b"gpustat: ") \
                and all(p.encode() in r.err for p in parts):
            return None
        return "wanted: status 1 after %s, a message with %s" % (harness.short(want), parts)
    return judge


def models(name, q, stdin, chosen, want=None):
    """The model's answer to the Scan `q`, and, where given, the one written by hand, `want`."""
    if want is not None:
        want = want if isinstance(want, bytes) else want.encode()
        out = oracle_scan.answer(q, stdin)
        if out.out != want or (out.bad and want):
            return harness.ok(False, name, "the model itself differs: %r\nwanted: %r" % (out.out, want))
    return holds(name, q.args(), stdin, oracle_scan.judge(q, stdin), chosen)
