# SPDX-License-Identifier: MIT
#
# mpi.m4 - finds MPI, with which gpustat-mpi is built. Optional; gpustat itself never needs it.

# _GPUSTAT_MPI_FLAGS
# Asks mpicc how it would compile and link: Open MPI's and MPICH's both know -show. Sets MPI_CFLAGS, MPI_LIBS.
AC_DEFUN([_GPUSTAT_MPI_FLAGS],
[MPI_CFLAGS=
MPI_LIBS=
for mpi_word in `$MPICC -show 2>/dev/null`; do
  AS_CASE([$mpi_word],
    [-I*|-D*], [AS_VAR_APPEND([MPI_CFLAGS], [" $mpi_word"])],
    [-L*|-l*|-Wl,-rpath*|-Wl,--enable-new-dtags], [AS_VAR_APPEND([MPI_LIBS], [" $mpi_word"])])
done])

# GPUSTAT_MPI
# Options: --with-mpi=check|yes|no; MPICC. Sets: MPI_CFLAGS, MPI_LIBS, the conditional HAVE_MPI; mpi_summary for the
# last words.
AC_DEFUN([GPUSTAT_MPI],
[AC_ARG_WITH([mpi],
  [AS_HELP_STRING([--with-mpi], [build gpustat-mpi with the MPI of mpicc @<:@default: if it is there@:>@])],
  [], [with_mpi=check])
AC_SUBST([with_mpi])
AC_ARG_VAR([MPICC], [the MPI's C compiler, which is asked for its flags])
mpi_summary="no, not asked for"
AS_IF([test "x$with_mpi" != xno],
  [mpi_summary=no
   AC_CHECK_PROGS([MPICC], [mpicc])
   AS_IF([test "x$MPICC" != x],
     [_GPUSTAT_MPI_FLAGS
      mpi_saved_CPPFLAGS=$CPPFLAGS
      mpi_saved_LIBS=$LIBS
      CPPFLAGS="$CPPFLAGS$MPI_CFLAGS"
      LIBS="$MPI_LIBS $LIBS"
      AC_MSG_CHECKING([whether programs with $MPICC's flags link])
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[return MPI_Init(0, 0);]])],
        [mpi_summary="yes ($MPICC)"])
      AC_MSG_RESULT([$mpi_summary])
      CPPFLAGS=$mpi_saved_CPPFLAGS
      LIBS=$mpi_saved_LIBS])
   AS_IF([test "x$with_mpi" = xyes && test "x$mpi_summary" = xno],
     [AC_MSG_ERROR([MPI was asked for, and no mpicc is there that works])])])
AS_CASE([$mpi_summary], [yes*], [have_mpi=yes], [have_mpi=no])
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])
AM_CONDITIONAL([HAVE_MPI], [test "$have_mpi" = yes])
])
