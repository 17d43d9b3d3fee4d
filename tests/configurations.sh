#!/bin/sh
# SPDX-License-Identifier: MIT
#
# configurations.sh [-a] [NAME...] - builds and tests the ways that configure knows, each in
# configurations.build/NAME of the current folder: without the optional libraries, with shared libraries, no
# hardening, no optimisation, another compiler; and last from the tarball, without git: built, tested, installed
# below DESTDIR, run from there and taken away again. Each runs the tests that the choice can matter to; -a: all tests.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
all=
if [ "${1-}" = -a ]; then
	all=yes
	shift
fi
[ $# -gt 0 ] || set -- zlib-alone shared soft unoptimised clang tarball
njobs=$(nproc 2>/dev/null || echo 1)
tests='tests/cli/compressed.py tests/cli/compressors.py tests/cli/codecs.py tests/cli/sections.py tests/cli/csv_text.py
	tests/cli/options.py tests/cli/regressions.py tests/cli/errors.py
	tests/cli/moments.py tests/cli/pairs.py tests/cli/quantiles.py tests/cli/keys.py tests/cli/running.py tests/cli/summary.py
	tests/lint/hardening.py tests/fuzz/fuzz_seeds.py tests/cli/differential_seeds.py tests/lint/include_order.py
	tests/unit/test_decimal tests/unit/test_simd tests/unit/test_exact tests/unit/test_quotes tests/unit/test_deflate
	tests/unit/test_keys tests/unit/test_logarithm tests/unit/test_integer tests/unit/test_select'

arguments_of() {
	case $1 in
	zlib-alone) echo --without-zstd --without-bzip2 --without-lzma --without-pcre2 ;;
	shared) echo --disable-static-codecs ;;
	soft) echo --disable-hardening ;;
	unoptimised) echo CFLAGS=-O0 ;;
	clang) echo CC=clang ;;
	tarball) ;;
	*) return 1 ;;
	esac
}

# Runs the tests of the build in the current folder; all of them with -a.
check() {
	if [ "$all" ]; then
		make -s -j"$njobs" check >check.log 2>&1 || return 1
	else
		make -s -j"$njobs" check TESTS="$(echo $tests)" >check.log 2>&1 || return 1
	fi
	echo "   $(grep -E '^# (PASS|SKIP|FAIL)' check.log | tr '\n' ' ')"
}

# Installs under the name $1, runs what was installed, and takes it away; nothing may be left.
check_install() {
	set -- "$1" DESTDIR="$PWD/destdir" prefix=/usr program_transform_name="s/^gpustat/$1/"
	make -s install "$2" "$3" "$4" >install.log 2>&1
	sum=$(printf '1\n2\n' | "destdir/usr/bin/$1" --sum 1)
	[ "$sum" = 3 ] || return 1
	[ -f "destdir/usr/share/man/man1/$1.1" ] || return 1
	grep -q "complete .* $1\$" "destdir/usr/share/bash-completion/completions/$1" || return 1
	grep -q "^#compdef $1\$" "destdir/usr/share/zsh/site-functions/_$1" || return 1
	grep -q "^complete -c $1 -l sum" "destdir/usr/share/fish/vendor_completions.d/$1.fish" || return 1
	make -s uninstall "$2" "$3" "$4" >>install.log 2>&1
	left=$(find destdir -type f)
	[ -z "$left" ] || {
		echo "   left behind: $left"
		return 1
	}
}

# The tarball of the source tree, unpacked; prints where.
unpack() {
	mkdir -p dist
	(cd dist && "$top/configure" -q --without-cuda >/dev/null && make -s dist >/dev/null) || return 1
	tar xzf dist/gpustat-*.tar.gz
	set -- "$PWD"/gpustat-*/
	echo "$1"
}

configuration() {
	source=$top
	rm -rf "$1"
	mkdir -p "$1"
	cd "$1"
	if [ "$1" = tarball ]; then
		source=$(unpack)
		chmod -R a-w "$source" # a build elsewhere must not write there
		mkdir build
		cd build
	fi
	# shellcheck disable=SC2046 # several words
	"$source/configure" -q --without-cuda --enable-werror $(arguments_of "$1") >configure.log 2>&1 || return 1
	grep -E '^    (read|hard):' configure.log
	make -s -j"$njobs" >make.log 2>&1 || {
		tail -n 20 make.log
		return 1
	}
	check || {
		grep -E '^(FAIL|ERROR|not ok)' check.log | head -n 20
		return 1
	}
	[ "$1" != tarball ] || { check_install gpustat && check_install csvstat; }
}

status=0
mkdir -p configurations.build
for name; do
	arguments_of "$name" >/dev/null || {
		echo "configurations.sh: no configuration $name" >&2
		exit 2
	}
	if [ "$name" = clang ] && ! command -v clang >/dev/null 2>&1; then
		echo "== $name: not here"
		continue
	fi
	echo "== $name"
	(cd configurations.build && configuration "$name") || {
		echo "configurations.sh: $name: failed"
		status=1
	}
done
[ ! -d configurations.build/tarball ] || chmod -R u+w configurations.build/tarball
exit $status
