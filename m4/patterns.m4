# SPDX-License-Identifier: MIT
#
# patterns.m4 - finds PCRE2, which matches the regular expressions of conditions. Optional.

# GPUSTAT_PATTERNS
# After GPUSTAT_CODECS, whose --disable-static-codecs holds for it. Option: --with-pcre2.
# Sets: in config.h HAVE_PCRE2; LIBS; patterns_summary for the last words.
AC_DEFUN([GPUSTAT_PATTERNS],
[AC_ARG_WITH([pcre2],
  [AS_HELP_STRING([--with-pcre2], [use libpcre2-8 @<:@default: if it is there@:>@])],
  [], [with_pcre2=auto])
AC_SUBST([with_pcre2])
codec_how="no, not asked for"
AS_IF([test "x$with_pcre2" != xno],
  [codec_how=no
   AC_CHECK_HEADER([pcre2.h],
     [_GPUSTAT_LINK([pcre2-8], [int pcre2_config_8(unsigned, void *);], [pcre2_config_8(0, 0)])],
     [], [#define PCRE2_CODE_UNIT_WIDTH 8])
   AS_IF([test "x$codec_how" != xno],
     [AC_DEFINE([HAVE_PCRE2], [1], [Define to 1 if libpcre2-8 is built in.])],
     [test "x$with_pcre2" != xauto],
     [AC_MSG_ERROR([libpcre2-8 was asked for and is not there])])])
patterns_summary="PCRE2 ($codec_how)"
])
