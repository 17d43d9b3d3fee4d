# SPDX-License-Identifier: MIT
"""A release: one version in every place that spells it, and a tarball that is the same bytes whoever makes it and when.

configure.ac has the version. Whoever raises it there is told here which pages lack it.
"""
import io
import os
import re
import shutil
import subprocess
import tarfile

import harness

# Where the version stands: a file, and a pattern whose group is the version. All of what it finds must be the same.
PLACES = (
    ("configure.ac", r"^AC_INIT\(\[gpustat\], \[(.*)\]\)"),
    ("NEWS", r"\A.*\n\n(\S+)"),
    ("debian/changelog", r"\A\S+ \((.*?)\)"),
    ("rpm/gpustat-csv.spec", r"^Version: (.*)"),
    ("docs/cluster.md", r'"version":"(.*?)"'),
    ("man/gpustat.1", r'"version":"(.*?)"|\bgpustat (\d+\.\d+\.\d+)'),
    ("README.md", r'"version":"(.*?)"|\bgpustat (\d+\.\d+\.\d+)'),
    ("docs/cookbook.md", r'"version":"(.*?)"|\bgpustat (\d+\.\d+\.\d+)'),
    ("docs/install.md", r"\bgpustat-(\d+\.\d+\.\d+)"),
)
MAY_LACK_IT = ("man/gpustat.1", "README.md", "docs/cookbook.md", "docs/install.md")


def spelled(path, pattern, text):
    """The versions that a page spells."""
    return ["".join(m.groups(default="")) for m in re.finditer(pattern, text, re.M)]


def differing(texts, version):
    """Places whose version is another, or that lack one."""
    for path, pattern in PLACES:
        found = spelled(path, pattern, texts[path])
        if set(found) - {version} or (not found and path not in MAY_LACK_IT):
            yield "%s: %s, not %s" % (path, found, version)


def check_versions():
    texts = {}
    for path, _ in PLACES:
        with open(harness.source(*path.split("/")), encoding="utf-8") as f:
            texts[path] = f.read()
    version = spelled(*PLACES[0], texts["configure.ac"])[0]
    harness.is_(list(differing(texts, version)), [], "every page has the version of configure.ac, %s" % version)
    for path, _ in PLACES[1:5]:
        broken = dict(texts, **{path: texts[path].replace(version, "9.9.9", 1)})
        harness.is_(len(list(differing(broken, version))), 1, "and another one in %s is found" % path)
    for tool in ("gpustat", "gpustat-bench"):
        r = harness.run(["--version"], tool=tool)
        harness.is_((r.status, r.out.split(b"\n")[0].decode()), (0, "%s %s" % (tool, version)), "%s --version" % tool)
    part = harness.run(["--sum=a", "--partial"], b"a\n1\n").out
    harness.ok(b'"version":"%s"' % version.encode() in part, "a part says which version wrote it", part)


def make_tarball(epoch, umask):
    """The bytes of `make dist` in the folder of the build, under a name of its own; or why there are none."""
    folder, name = os.path.dirname(harness.program()), "tarball-of-a-test"
    env = {k: v for k, v in harness.environment().items() if not k.startswith("MAKE") and k != "MFLAGS"}
    p = subprocess.run(["sh", "-c", "umask %o && exec make -s dist-gzip distdir=%s" % (umask, name)], cwd=folder,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(env, SOURCE_DATE_EPOCH=str(epoch)), check=False)
    path = os.path.join(folder, name + ".tar.gz")
    if p.returncode or not os.path.exists(path):
        return None, p.stdout.decode("utf-8", "replace")
    with open(path, "rb") as f:
        data = f.read()
    os.remove(path)
    return data, ""


def check_tarball():
    tar = subprocess.run(["tar", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    if b"GNU tar" not in tar or not shutil.which("gzip"):
        harness.skip("the tarball", "no GNU tar")
        return
    first, words = make_tarball(1000000000, 0o022)
    if not harness.ok(first, "make dist", words):
        return
    harness.ok(make_tarball(1000000000, 0o077)[0] == first, "another time and another umask: the same bytes")
    with tarfile.open(fileobj=io.BytesIO(first)) as t:
        members = t.getmembers()
    harness.ok(len(members) > 300, "it has the files", len(members))
    harness.is_({m.mtime for m in members}, {1000000000}, "all have the time of SOURCE_DATE_EPOCH")
    harness.is_({(m.uid, m.gid, m.uname, m.gname) for m in members}, {(0, 0, "", "")}, "all belong to 0")
    harness.is_({oct(m.mode) for m in members}, {"0o644", "0o755"}, "two modes")
    names = [m.name for m in members]
    harness.is_([n for n in names if re.search(r"__pycache__|\.git\b|\.orig$|~$", n)], [], "nothing of a workplace is in it")
    harness.is_(names, sorted(names, key=lambda n: n.split("/")), "names are sorted")
    harness.is_(first[4:8], bytes(4), "gzip keeps no time")


check_versions()
check_tarball()
harness.done()
