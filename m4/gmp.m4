# SPDX-License-Identifier: MIT
#
# gmp.m4 - finds GMP, which computes with long integers. Required.

# GPUSTAT_GMP
# After GPUSTAT_CODECS, whose --disable-static-codecs holds for it. Sets: LIBS; gmp_summary for the last words.
AC_DEFUN([GPUSTAT_GMP],
[AC_CHECK_HEADER([gmp.h], [],
  [AC_MSG_ERROR([gmp.h is missing; on Debian and Ubuntu: apt-get install libgmp-dev])])
_GPUSTAT_LINK([gmp], [int __gmpn_tdiv_qr(void *);], [__gmpn_tdiv_qr(0)])
AS_IF([test "x$codec_how" = xno],
  [AC_MSG_ERROR([libgmp is missing; on Debian and Ubuntu: apt-get install libgmp-dev])])
gmp_summary="GMP ($codec_how)"
])
