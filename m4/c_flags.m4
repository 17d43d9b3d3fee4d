# SPDX-License-Identifier: MIT

# GPUSTAT_C_FLAGS(VARIABLE, FLAGS)
# Sets and substitutes VARIABLE: those of FLAGS that the C compiler takes.
AC_DEFUN([GPUSTAT_C_FLAGS],
[AC_SUBST([$1])
$1=
for flag in $2; do
  AC_MSG_CHECKING([whether $CC takes $flag])
  saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $flag"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes])
     AS_VAR_APPEND([$1], [" $flag"])],
    [AC_MSG_RESULT([no])])
  CFLAGS=$saved_CFLAGS
done])
