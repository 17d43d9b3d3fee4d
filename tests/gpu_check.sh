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

sanitize() {
	tool=$1
	shift
	must timeout 100 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 "$@" >sanitizer.log 2>&1
	printf '%s: %s: %s\n' "$tool" "$*" "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' sanitizer.log)"
	grep -E '^not ok|SKIP|Error|Invalid' sanitizer.log | head -5
}

began=$(date +%s)
step 'machine'
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
nproc

step 'build and test'
must ./bootstrap check ${GPUSTAT_CONFIGURE:---with-cuda-arch=native}
grep -hE '# SKIP.*(device|GPU)' build/tests/*.log && failed=1
must ./bootstrap demo
gpustat=$PWD/build/gpustat

step 'compute-sanitizer'
cd build || exit 1
sanitize memcheck tests/test_kernels
sanitize memcheck tests/test_worker_gpu
sanitize memcheck tests/test_emission
sanitize memcheck tests/test_scan quick
sanitize initcheck tests/test_worker_gpu
sanitize synccheck tests/test_kernels
sanitize synccheck tests/test_scan quick
sanitize racecheck tests/test_kernels
sanitize racecheck tests/test_scan quick
sanitize memcheck ./gpustat --device gpu --format csv ../data/debian-packages.csv.gz
sanitize memcheck ./gpustat --device gpu --sum '*' ../data/seattle-weather.csv
sanitize memcheck ./gpustat --device gpu --cumsum '*' --byte-offset ../data/seattle-weather.csv
cd ..

step 'CPU against GPU, ten inputs of 100 MB and more'
must python3 tests/compare_devices.py "$gpustat" "$gen" "$folder"

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
