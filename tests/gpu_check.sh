#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gpu_check.sh GEN [FOLDER]: all that has to be run on a machine with a GPU before a
# change of the kernels is done. Not part of `make check`.
#
# GEN: a program that makes inputs (GEN KIND ROWS [SEED]; kinds logs, narrow, wide,
# floats, ledger). FOLDER: where large inputs may lie (default: a temporary one).
# Builds, runs every test and insists that none was skipped for want of a device, runs
# the kernel tests and the pipeline under compute-sanitizer, compares the devices' answers
# on large inputs, and prints times. Exit status 0 if all of it is as it should be.
set -u
cd "$(dirname "$0")/.." || exit 1
gen=$1
folder=${2:-$(mktemp -d)}
failed=0

step() {
	printf '\n==== %s (%s s)\n' "$1" "$(($(date +%s) - began))"
}

# Runs a command and remembers if it failed.
must() {
	"$@" || {
		printf 'FAILED: %s\n' "$*"
		failed=1
	}
}

# Starts compute-sanitizer's $1 on the command that follows. All of them run at once, into
# sanitizer.N.log; the exit status comes last there.
nsanitizers=0
sanitize() {
	tool=$1
	shift
	nsanitizers=$((nsanitizers + 1))
	{
		echo "$tool: $*"
		GPUSTAT_TEST_CASES=20 timeout 570 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 "$@" 2>&1
		echo "exit status $?"
	} >"sanitizer.$nsanitizers.log" &
}

# What came of them.
sanitizers_end() {
	wait
	for log in sanitizer.*.log; do
		[ "$(tail -n 1 "$log")" = 'exit status 0' ] || failed=1
		printf '%s: %s, %s\n' "$(head -n 1 "$log")" \
			"$(grep -hoE '(ERROR|RACECHECK) SUMMARY: .*' "$log" | tail -n 1)" "$(tail -n 1 "$log")"
		grep -E '^not ok|SKIP.*(device|GPU)|Error|Invalid' "$log" | head -5
	done
}

began=$(date +%s)
step 'machine'
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
nproc

step 'build and test'
must ./bootstrap check ${GPUSTAT_CONFIGURE:---with-cuda-arch=native}
grep -hE '# SKIP.*(device|GPU)' build/tests/*/*.log && failed=1
must ./bootstrap demo
gpustat=$PWD/build/gpustat

step 'compute-sanitizer'
cd build || exit 1
rm -f sanitizer.*.log
for tool in memcheck racecheck synccheck; do
	sanitize $tool tests/gpu/test_group_rungs
	sanitize $tool tests/gpu/test_groups quick
	sanitize $tool tests/gpu/test_inflate quick
	sanitize $tool tests/gpu/test_member quick
	sanitize $tool tests/gpu/test_keep
	sanitize $tool tests/gpu/test_kernels
	sanitize $tool tests/gpu/test_records
	sanitize $tool tests/gpu/test_scan quick
	sanitize $tool tests/gpu/test_ladder quick
	sanitize $tool tests/gpu/test_worker_gpu quick
	sanitize $tool tests/gpu/test_worker_tiles quick
	sanitize $tool tests/gpu/test_field_number
done
sanitize initcheck tests/gpu/test_worker_gpu quick
sanitize memcheck tests/gpu/test_emission
sanitize memcheck ./gpustat --device gpu --format csv ../data/debian-packages.csv.gz
sanitize memcheck ./gpustat --device gpu --sum '*' ../data/seattle-weather.csv
sanitize memcheck ./gpustat --device gpu --by weather --sum wind --stddev wind ../data/seattle-weather.csv
sanitize memcheck ./gpustat --device gpu --cumsum '*' --byte-offset ../data/seattle-weather.csv
sanitizers_end
cd ..

step 'CPU against GPU, ten inputs of 100 MB and more'
must python3 tests/gpu/compare_devices.py "$gpustat" "$gen" "$folder"

step 'printed records, CPU against GPU'
for table in "$folder"/*-0.csv; do
	for options in "--cumsum * --running-min * --byte-offset" "--running-max * --exclusive --only"; do
		set -f
		cpu=$("$gpustat" --device cpu $options "$table" | sha256sum)
		gpu=$("$gpustat" --device gpu $options "$table" | sha256sum)
		set +f
		[ "$cpu" = "$gpu" ] || failed=1
		printf '%s %s: %s %s\n' "${table##*/}" "$options" "${cpu%% *}" "${gpu%% *}" | cut -c 1-150
	done
done

step 'start-up'
must python3 tests/startup.py "$gpustat"

step 'done'
[ "$failed" = 0 ] && echo 'gpu_check: all is well' || echo 'gpu_check: FAILED'
exit "$failed"
