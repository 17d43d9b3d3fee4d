#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh [TEST...] - which lines and branches of src/ the tests run: builds in coverage.build of the current
# folder with gcov's counters, runs the tests (all of them where none is named), and prints a
# table, the least covered file first. Branches that only an exception could take are not counted, since C
# has none. A run that ends by _exit would leave no counters, so that it is made exit here.
# cli/faults fails here, because it makes gcov's own calls fail, too; its runs are counted.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
njobs=$(nproc 2>/dev/null || echo 1)
mkdir -p coverage.build
cd coverage.build
[ -f Makefile ] || "$top/configure" -q --without-cuda --disable-hardening \
	CFLAGS='-O0 -g --coverage -fprofile-update=atomic -D_exit=exit' >/dev/null
make -s -j"$njobs" >/dev/null 2>&1
find . -name '*.gcda' -delete
if [ $# -gt 0 ]; then
	make -s -j"$njobs" check TESTS="$*" >check.log 2>&1 || :
else
	make -s -j"$njobs" check >check.log 2>&1 || :
fi
grep -E '^# (PASS|FAIL|ERROR)' check.log || :
"${PYTHON3-python3}" "$top/tests/coverage.py" "$top/src" src/*/*.o
