#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [-j] [SECONDS [HARNESS...]] - coverage-guided fuzzing with libFuzzer (Debian: clang). Builds
# the sources and tests/fuzz/fuzz_HARNESS.c with ASan and UBSan in fuzz.build/ of the current folder,
# and runs each harness (records, decimal, words, packed) for SECONDS (default 60). What it has learnt
# stays in fuzz.build/corpus/ for the next time; what fails is left in fuzz.build/found/, and is
# run again by `fuzz.build/HARNESS FILE`. With -j all harnesses run at once.
set -eu

at_once=
if [ "${1-}" = -j ]; then
	at_once=yes
	shift
fi
seconds=${1-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- records decimal words packed

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
sanitize='-fsanitize=address,undefined -fno-sanitize-recover=undefined'

mkdir -p fuzz.build/found
cd fuzz.build
[ -f Makefile ] || "$top/configure" -q --without-cuda --disable-hardening CC="${CLANG-clang}" \
	CFLAGS="-g -O1 $sanitize -fsanitize=fuzzer-no-link" >/dev/null
make -s libgpustat.a 2>&1 | grep -v '^  ' || :
libs=$(sed -n 's/^LIBS = //p' Makefile)
"${PYTHON3-python3}" "$here/seeds.py" seeds

for harness; do
	# shellcheck disable=SC2086 # several words
	"${CLANG-clang}" -g -O1 -std=c11 -D_GNU_SOURCE $sanitize -fsanitize=fuzzer -include config.h -I. \
		-I"$top/src" -I"$top" -I"$here" -o "$harness" "$here/fuzz_$harness.c" libgpustat.a $libs -pthread
done

fuzz() {
	mkdir -p "corpus/$1"
	echo "== $1, $seconds s"
	dict=$(ls "seeds/$1.dict" 2>/dev/null || :)
	"./$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1500 -print_final_stats=1 \
		${dict:+-dict="$dict"} -artifact_prefix="found/$1-" "corpus/$1" "seeds/$1" >"$1.log" 2>&1 || {
		tail -n 40 "$1.log"
		return 1
	}
	grep -E 'stat::number_of_executed_units|stat::peak_rss|cov:' "$1.log" | tail -n 3
}

failed=0
pids=
for harness; do
	if [ "$at_once" ]; then
		fuzz "$harness" &
		pids="$pids $!"
	else
		fuzz "$harness" || failed=1
	fi
done
for pid in $pids; do
	wait "$pid" || failed=1
done
exit $failed
