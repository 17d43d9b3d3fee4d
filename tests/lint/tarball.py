# SPDX-License-Identifier: MIT
"""The tarball is whole: Makefile.am names every file that git keeps.

A file that is forgotten there is missed only by who builds from the tarball. The rule is asked twice: of the list as it is,
which must name all, and of lists with one file taken out, which must miss it.
"""
import re
import subprocess

import harness

# what automake distributes by itself, what is named as a folder, and what belongs to git and CI alone
LEFT_OUT = ("Makefile.am", "configure.ac", "LICENSE", "NEWS", "README.md", "m4/", "docs/", ".gitignore", ".ci/")


def tracked():
    p = subprocess.run(["git", "ls-files"], cwd=harness.source(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       check=False)
    return p.stdout.decode().split("\n")[:-1] if p.returncode == 0 else []


def forgotten(paths, makefile):
    """Those of `paths` that the text of `makefile` does not name; a program named alone has a source of its name."""
    named = set(re.findall(r"[^\s=\\]+", makefile))
    named |= {program + ".c" for program in named}
    return [path for path in paths if path not in named and not path.startswith(LEFT_OUT)]


files = tracked()
if not files:
    harness.skip_all("no git here, or no repository")
with open(harness.source("Makefile.am"), encoding="utf-8") as f:
    text = f.read()
harness.is_(forgotten(files, text), [], "Makefile.am names every file")
for one in ("tests/oracle/oracle_let.py", "src/fold/moment.c"):
    harness.is_(forgotten(files, text.replace(one, "")), [one], "and %s is missed where it is not named" % one)
harness.done()
