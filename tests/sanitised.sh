#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sanitised.sh [address|thread|valgrind|fuzz|configure-argument]... - builds in sanitised.build/KIND of the
# current folder with AddressSanitizer and UBSan, with ThreadSanitizer, or for valgrind, and runs the
# tests; these three kinds if none is named. fuzz: the build of address, and random command lines
# (tests/fuzz/differential.py) for FUZZ_SECONDS, 120 by default, with FUZZ_FLAGS. Left out of the tests, and why:
#
#   cli/faults             makes malloc fail, which a sanitizer replaces
#   cli/memory, cli/bombs  measure memory, of which a sanitizer takes a multiple
#   cli/signal_handling, cli/progress
#                          thread: the sanitizer delays signals; address: its leak detection hangs in a
#                          process that is stopped, so they run without
#   lint, cli/documentation, cli/bench, cli/draw    run little or nothing of the program
#
# valgrind is 50 times as slow: only the C tests, the fuzzers' harnesses over their seeds, 150 cases of
# the differential fuzzer and the shorter command-line tests run under it. It does not know AVX-512, so
# the program chooses AVX2.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
kinds= arguments=
for argument; do
	case $argument in
	address | thread | valgrind | fuzz) kinds="$kinds $argument" ;;
	*) arguments="$arguments $argument" ;;
	esac
done
[ "$kinds" ] || kinds='address thread valgrind'
njobs=$(nproc 2>/dev/null || echo 1)
# Random cases of each kind: a sanitizer takes 5 to 50 times as long.
GPUSTAT_TEST_CASES=${GPUSTAT_TEST_CASES-300}
export GPUSTAT_TEST_CASES
short='tests/cli/regressions.py tests/cli/messages.py tests/cli/where.py'

left_out='cli/(faults|memory|bombs|bench|draw|documentation|signal_handling|progress)|lint/'

address_flags='-g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'

# The tests of this build, but for those that match $1.
tests_without() {
	make -s print-tests | tr ' ' '\n' | grep -Ev "$1" | tr '\n' ' '
}

# Builds $1 with the compiler's flags $2: the target $3, or all.
build() {
	mkdir -p "sanitised.build/$1"
	cd "sanitised.build/$1"
	# shellcheck disable=SC2086 # several words
	[ -f Makefile ] || "$top/configure" -q --without-cuda --disable-hardening CFLAGS="$2" $arguments >/dev/null
	make -s -j"$njobs" "${3-all}" >/dev/null
}

check() {
	make -s -j"$njobs" check "$@" >check.log 2>&1 && result=0 || result=1
	grep -E '^# (TOTAL|PASS|FAIL|SKIP|ERROR)' check.log || tail -n 20 check.log
	grep -E '^(FAIL|ERROR): ' check.log | head -n 20 || :
	return $result
}

sanitised_address() {
	build address "$address_flags"
	# 86: no test takes it for gpustat's own
	options=allocator_may_return_null=1:detect_stack_use_after_return=1:exitcode=86
	result=0
	ASAN_OPTIONS=$options:detect_leaks=0 check TESTS="tests/cli/signal_handling.py tests/cli/progress.py" || result=1
	ASAN_OPTIONS=$options check \
		TESTS="$(tests_without "$left_out")" ||
		result=1
	return $result
}

sanitised_thread() {
	build thread '-g -O1 -fno-omit-frame-pointer -fsanitize=thread'
	TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
		check TESTS="$(tests_without "$left_out")"
}

sanitised_fuzz() {
	build address "$address_flags" tests/fuzz/serve &&
		make -s fuzz FUZZ_SECONDS="${FUZZ_SECONDS-120}" FUZZ_FLAGS="${FUZZ_FLAGS-}"
}

sanitised_valgrind() {
	build valgrind '-g -O1'
	under="valgrind -q --error-exitcode=99 --leak-check=no --log-file=$PWD/valgrind.%p.log"
	rm -f valgrind.*.log
	for program in gpustat tests/fuzz/serve; do
		printf '#!/bin/sh\nexec %s %s "$@"\n' "$under" "$PWD/$program" >"under-${program##*/}"
		chmod +x "under-${program##*/}"
	done
	result=0
	check TESTS="$(tests_without '\.py$')" LOG_COMPILER="$under" || result=1
	make -s tests/fuzz/serve >/dev/null
	GPUSTAT_TEST_CASES=150 GPUSTAT_SERVE=$PWD/under-serve \
		check TESTS=tests/cli/differential_seeds.py || result=1
	check TESTS="$short" TESTS_ENVIRONMENT="GPUSTAT=$PWD/under-gpustat" || result=1
	find . -name 'valgrind.*.log' -size +0 -exec head -n 20 {} + | head -n 60
	[ -z "$(find . -name 'valgrind.*.log' -size +0)" ] || result=1
	return $result
}

status=0
for kind in $kinds; do
	echo "== $kind"
	(sanitised_"$kind") || {
		echo "sanitised.sh: $kind: failed; see sanitised.build/, check.log or fuzz.failed/"
		status=1
	}
done
exit $status
