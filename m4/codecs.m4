# SPDX-License-Identifier: MIT
#
# codecs.m4 - finds the libraries that decompress: zlib, which is required, and libzstd,
# libbz2 and liblzma, which are optional. A static archive is preferred: to load shared libraries would
# take a good part of the time of a short run.

# GPUSTAT_CODECS
# Options: --with-zstd, --with-bzip2, --with-lzma, --disable-static-codecs.
# Sets: in config.h HAVE_ZSTD, HAVE_BZIP2, HAVE_LZMA; LIBS; codecs_summary for the last words.
AC_DEFUN([GPUSTAT_CODECS],
[AC_ARG_ENABLE([static-codecs],
  [AS_HELP_STRING([--disable-static-codecs],
    [link the libraries that decompress as shared ones, for a distribution])],
  [], [enable_static_codecs=yes])

AC_CHECK_HEADER([zlib.h], [],
  [AC_MSG_ERROR([zlib.h is missing; on Debian and Ubuntu: apt-get install zlib1g-dev])])
_GPUSTAT_LINK([z], [int inflateReset2(void *, int);], [inflateReset2(0, 0)])
AS_IF([test "x$codec_how" = xno],
  [AC_MSG_ERROR([libz is missing or too old; on Debian and Ubuntu: apt-get install zlib1g-dev])])
codecs_summary="zlib ($codec_how)"

_GPUSTAT_CODEC([zstd], [ZSTD], [libzstd], [zstd.h], [zstd],
  [void *ZSTD_createDStream(void);], [ZSTD_createDStream() == 0])
_GPUSTAT_CODEC([bzip2], [BZIP2], [libbz2], [bzlib.h], [bz2],
  [int BZ2_bzDecompress(void *);], [BZ2_bzDecompress(0)])
_GPUSTAT_CODEC([lzma], [LZMA], [liblzma], [lzma.h], [lzma],
  [int lzma_code(void *, int);], [lzma_code(0, 0)])
])

# _GPUSTAT_CODEC(OPTION, NAME, WORDS, HEADER, LIBRARY, DECLARATION, CALL)
# An optional library, used if it is there.
AC_DEFUN([_GPUSTAT_CODEC],
[AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1], [use $3 @<:@default: if it is there@:>@])],
  [], [with_$1=auto])
AC_SUBST([with_$1])
codec_how="no, not asked for"
AS_IF([test "x$with_$1" != xno],
  [AC_CHECK_HEADER([$4], [_GPUSTAT_LINK([$5], [$6], [$7])], [codec_how=no])
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
