# SPDX-License-Identifier: MIT
#
# codecs.m4 - finds the libraries that decompress: zlib, which is required, and ISA-L, libdeflate,
# libzstd, libbz2 and liblzma, which are optional. A static archive is preferred: to load shared libraries would
# take a good part of the time of a short run.

# GPUSTAT_CODECS
# Options: --with-isal, --with-libdeflate, --with-zstd, --with-bzip2, --with-lzma,
# --disable-static-codecs.
# Sets: in config.h HAVE_ISAL, ISAL_SONAME, HAVE_LIBDEFLATE, HAVE_ZSTD, HAVE_BZIP2, HAVE_LZMA; LIBS;
# codecs_summary for the last words.
AC_DEFUN([GPUSTAT_CODECS],
[AC_ARG_ENABLE([static-codecs],
  [AS_HELP_STRING([--disable-static-codecs],
    [link the libraries that decompress as shared ones, for a distribution])],
  [], [enable_static_codecs=yes])
AC_SEARCH_LIBS([dlopen], [dl])

AC_CHECK_HEADER([zlib.h], [],
  [AC_MSG_ERROR([zlib.h is missing; on Debian and Ubuntu: apt-get install zlib1g-dev])])
_GPUSTAT_LINK([z], [int inflateReset2(void *, int);], [inflateReset2(0, 0)])
AS_IF([test "x$codec_how" = xno],
  [AC_MSG_ERROR([libz is missing or too old; on Debian and Ubuntu: apt-get install zlib1g-dev])])
codecs_summary="zlib ($codec_how)"

_GPUSTAT_CODEC([isal], [ISAL], [ISA-L], [isa-l/igzip_lib.h], [isal],
  [int isal_inflate(void *);], [isal_inflate(0)])
AS_CASE([$codec_how], [no*], [libdeflate_default=auto], [libdeflate_default=no]) # ISA-L is faster
_GPUSTAT_CODEC([libdeflate], [LIBDEFLATE], [libdeflate], [libdeflate.h], [deflate],
  [void libdeflate_free_decompressor(void *); int libdeflate_deflate_decompress_ex(void *);],
  [libdeflate_deflate_decompress_ex(0)], [$libdeflate_default])
_GPUSTAT_CODEC([zstd], [ZSTD], [libzstd], [zstd.h], [zstd],
  [void *ZSTD_createDStream(void);], [ZSTD_createDStream() == 0])
_GPUSTAT_CODEC([bzip2], [BZIP2], [libbz2], [bzlib.h], [bz2],
  [int BZ2_bzDecompress(void *);], [BZ2_bzDecompress(0)])
_GPUSTAT_CODEC([lzma], [LZMA], [liblzma], [lzma.h], [lzma],
  [int lzma_code(void *, int);], [lzma_code(0, 0)])
])

# _GPUSTAT_CODEC(OPTION, NAME, WORDS, HEADER, LIBRARY, DECLARATION, CALL, [DEFAULT = auto])
# An optional library. auto: it is used if it is there.
AC_DEFUN([_GPUSTAT_CODEC],
[AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1], [use $3 @<:@default: if it is there and of use@:>@])],
  [], [with_$1=m4_default([$8], [auto])])
AC_SUBST([with_$1])
codec_how="no, not asked for"
AS_IF([test "x$with_$1" != xno],
  [AC_CHECK_HEADER([$4],
    [m4_if([$1], [isal], [_GPUSTAT_LINK_OR_LOAD([$2], [$5], [$6], [$7])],
       [_GPUSTAT_LINK([$5], [$6], [$7])])],
    [codec_how=no])
   AS_IF([test "x$codec_how" != xno],
     [AC_DEFINE([HAVE_$2], [1], [Define to 1 if $3 is built in.])],
     [test "x$with_$1" != xauto],
     [AC_MSG_ERROR([$3 was asked for and is not there])])])
AS_VAR_APPEND([codecs_summary], [", $3 ($codec_how)"])
])

# _GPUSTAT_LINK(LIBRARY, DECLARATION, CALL)
# Puts the library before LIBS. codec_how: static, shared or no.
AC_DEFUN([_GPUSTAT_LINK],
[AC_MSG_CHECKING([how to link lib$1])
codec_how=no
saved_LIBS=$LIBS
for how in static shared; do
  AS_CASE([$how/$enable_static_codecs],
    [static/no], [continue],
    [static/*], [LIBS="-Wl,-Bstatic -l$1 -Wl,-Bdynamic $saved_LIBS"],
    [LIBS="-l$1 $saved_LIBS"])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[$2]], [[$3;]])],
    [codec_how=$how
     break])
done
test "$codec_how" != no || LIBS=$saved_LIBS
AC_MSG_RESULT([$codec_how])
])

# _GPUSTAT_LINK_OR_LOAD(NAME, LIBRARY, DECLARATION, CALL)
# Like _GPUSTAT_LINK, but a shared library is not linked, since it would be loaded at every start.
# Instead NAME_SONAME in config.h is its name, by which the program loads it when it is needed.
AC_DEFUN([_GPUSTAT_LINK_OR_LOAD],
[codec_LIBS=$LIBS
_GPUSTAT_LINK([$2], [$3], [$4])
AS_IF([test "$codec_how/$enable_static_codecs" = shared/yes],
  [AC_MSG_CHECKING([for the name of the shared lib$2])
   codec_soname=`LC_ALL=C readelf -d "\`$CC -print-file-name=lib$2.so\`" 2>&AS_MESSAGE_LOG_FD |
     sed -n 's/.*(SONAME).*\@<:@\(.*\)\@:>@.*/\1/p'`
   AC_MSG_RESULT([${codec_soname:-unknown}])
   AS_IF([test -n "$codec_soname"],
     [LIBS=$codec_LIBS
      codec_how="$codec_soname, loaded when needed"
      AC_DEFINE_UNQUOTED([$1_SONAME], ["$codec_soname"],
        [The shared library's name, if it is to be loaded when needed.])])])
])
