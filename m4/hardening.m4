# SPDX-License-Identifier: MIT
#
# hardening.m4 - flags that make a fault in the program harder to use: each is taken if the
# compiler and the linker take it.

# GPUSTAT_HARDENING
# Option: --disable-hardening.
# Sets and substitutes HARDENING_CFLAGS (both compilers' host code) and HARDENING_LDFLAGS;
# in config.h _FORTIFY_SOURCE; hardening_summary for the last words.
#
# _FORTIFY_SOURCE is in config.h, where it can be left out of what is compiled without
# optimisation, which makes it a warning; under a sanitizer, which checks more by itself; and of
# CUDA, where memcpy has another meaning in a kernel. It is left alone where the
# compiler or the user has set it.
AC_DEFUN([GPUSTAT_HARDENING],
[AC_ARG_ENABLE([hardening],
  [AS_HELP_STRING([--disable-hardening],
    [build without stack protector, _FORTIFY_SOURCE, position-independent code and
     read-only relocations])],
  [], [enable_hardening=yes])
AC_SUBST([HARDENING_CFLAGS])
AC_SUBST([HARDENING_LDFLAGS])
HARDENING_CFLAGS=
HARDENING_LDFLAGS=
hardening_summary="no (--disable-hardening)"
AS_VAR_IF([enable_hardening], [no], [],
  [GPUSTAT_C_FLAGS([HARDENING_CFLAGS],
     [-fstack-protector-strong -fstack-clash-protection -fcf-protection])
   _GPUSTAT_LINK_FLAGS([-fPIE], [-pie])
   for flag in -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack; do
     _GPUSTAT_LINK_FLAGS([], [$flag])
   done
   _GPUSTAT_FORTIFY
   hardening_summary="$fortify_words$HARDENING_CFLAGS$HARDENING_LDFLAGS"])

AH_VERBATIM([GPUSTAT_FORTIFY],
[/* Checks of the C library's on the sizes of buffers, where they are known. */
#undef GPUSTAT_FORTIFY
#if defined GPUSTAT_FORTIFY && !defined _FORTIFY_SOURCE && defined __OPTIMIZE__ && \
	!defined __CUDACC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
# ifdef __has_feature
#  if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && \
	!__has_feature(memory_sanitizer)
#   define _FORTIFY_SOURCE GPUSTAT_FORTIFY
#  endif
# else
#  define _FORTIFY_SOURCE GPUSTAT_FORTIFY
# endif
#endif])
])

# _GPUSTAT_LINK_FLAGS(COMPILING, LINKING)
# Adds to HARDENING_CFLAGS and HARDENING_LDFLAGS what makes a program that links.
AC_DEFUN([_GPUSTAT_LINK_FLAGS],
[AC_MSG_CHECKING([whether $CC links with m4_if([$1], [], [], [$1 ])$2])
saved_CFLAGS=$CFLAGS
saved_LDFLAGS=$LDFLAGS
CFLAGS="$CFLAGS -Werror $1"
LDFLAGS="$LDFLAGS $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>]], [[puts("");]])],
  [AC_MSG_RESULT([yes])
   m4_if([$1], [], [], [AS_VAR_APPEND([HARDENING_CFLAGS], [" $1"])])
   AS_VAR_APPEND([HARDENING_LDFLAGS], [" $2"])],
  [AC_MSG_RESULT([no])])
CFLAGS=$saved_CFLAGS
LDFLAGS=$saved_LDFLAGS
])

# The highest level of _FORTIFY_SOURCE that both the compiler and the C library know:
# they warn about a level that they do not know.
AC_DEFUN([_GPUSTAT_FORTIFY],
[AC_MSG_CHECKING([for _FORTIFY_SOURCE])
fortify=
saved_CFLAGS=$CFLAGS
for level in 3 2; do
  CFLAGS="$saved_CFLAGS -O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level"
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[#include <string.h>
#if $level > 2 && !(defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12) && \
	!(defined __clang__ && __clang_major__ >= 9)
# error "a level that the compiler does not know"
#endif]],
      [[static char a[8]; memcpy(a, "1234567", 8); return a[3] == 0;]])],
    [fortify=$level
     break])
done
CFLAGS=$saved_CFLAGS
AC_MSG_RESULT([${fortify:-no}])
fortify_words=
AS_IF([test -n "$fortify"],
  [fortify_words="_FORTIFY_SOURCE=$fortify,"
   AC_DEFINE_UNQUOTED([GPUSTAT_FORTIFY], [$fortify])])
])
