# SPDX-License-Identifier: MIT
#
# cuda.m4 - finds the CUDA toolkit and proves that it works: a kernel is compiled for
# the wanted chips by nvcc and linked by the C compiler with the static runtime, so
# that the program starts on a machine without a driver.

# GPUSTAT_CUDA
# Options: --with-cuda[=DIR], --with-cuda-arch=LIST.
# Sets: automake conditional HAVE_CUDA; in config.h HAVE_CUDA, CUDA_VERSION_TEXT and
# CUDA_ARCH_TEXT; for make NVCC, NVCCFLAGS (the user's), PROJECT_NVCCFLAGS,
# CUDA_ARCH_FLAGS, CUDA_LIBS; cuda_summary for the last words.
AC_DEFUN([GPUSTAT_CUDA],
[AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
    [use the CUDA toolkit in DIR; --without-cuda: build for the CPU only
     @<:@default: use one found through CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda@:>@])],
  [], [with_cuda=auto])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST],
    [GPUs to compile for: compute capabilities such as "75 80 90" (the last, and any
     with +ptx, also as PTX for later chips), or native, all-major, all
     @<:@default: 75 80 90 100+ptx 120, as far as nvcc knows them@:>@])],
  [], [with_cuda_arch=default])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [CUDA compiler flags @<:@default: -O3@:>@])
AC_SUBST([with_cuda])
AC_SUBST([with_cuda_arch])
AC_SUBST([CUDA_ARCH_FLAGS])
AC_SUBST([CUDA_LIBS])
AC_SUBST([PROJECT_NVCCFLAGS])

have_cuda=no
AS_IF([test "x$with_cuda" = xno],
  [cuda_summary="no (--without-cuda)"],
  [_GPUSTAT_CUDA_NVCC
   AS_IF([test -z "$NVCC"],
     [cuda_summary="no (nvcc not found)"],
     [_GPUSTAT_CUDA_ARCH
      _GPUSTAT_CUDA_WORKS])
   AS_IF([test "$have_cuda" = yes],
     [cuda_summary="$NVCC, for $cuda_arch_list"],
     [test "x$with_cuda" != xauto || test "x$with_cuda_arch" != xdefault],
     [AC_MSG_ERROR([CUDA was asked for: $cuda_summary])],
     [test -n "$NVCC"],
     [AC_MSG_WARN([CUDA: $cuda_summary])])])

AM_CONDITIONAL([HAVE_CUDA], [test "$have_cuda" = yes])
AS_VAR_IF([have_cuda], [yes],
  [cuda_version=`$NVCC --version | sed -n 's/.*release \([[0-9.]]*\).*/\1/p'`
   AC_DEFINE([HAVE_CUDA], [1], [Define to 1 if the GPU kernels are built in.])
   AC_DEFINE_UNQUOTED([CUDA_VERSION_TEXT], ["$cuda_version"], [The CUDA toolkit's version.])
   AC_DEFINE_UNQUOTED([CUDA_ARCH_TEXT], ["$cuda_arch_list"],
     [The GPUs that the kernels are compiled for.])])
])

# Finds NVCC (the user's word stands) and cuda_libdir, the folder of the static runtime;
# both may end up empty, and an empty cuda_libdir leaves it to the linker's own folders.
AC_DEFUN([_GPUSTAT_CUDA_NVCC],
[AS_CASE([$with_cuda],
  [auto|yes],
    [cuda_path=$PATH$PATH_SEPARATOR/usr/local/cuda/bin
     AS_IF([test -n "$CUDA_PATH"], [cuda_path=$CUDA_PATH/bin$PATH_SEPARATOR$cuda_path])
     AS_IF([test -n "$CUDA_HOME"], [cuda_path=$CUDA_HOME/bin$PATH_SEPARATOR$cuda_path])],
  [cuda_path=$with_cuda/bin])
AC_PATH_PROG([NVCC], [nvcc], [], [$cuda_path])

cuda_libdir=
AS_IF([test -n "$NVCC"],
  [set dummy $NVCC
   cuda_root=`readlink -f "$[2]" | sed 's|/bin/[[^/]]*$||'`
   for dir in "$cuda_root/lib64" "$cuda_root/targets/`uname -m`-linux/lib" "$cuda_root/lib"; do
     AS_IF([test -f "$dir/libcudart_static.a"],
       [cuda_libdir=$dir
        break])
   done])
])

# Turns with_cuda_arch into CUDA_ARCH_FLAGS. A cubin runs on later chips of the same
# major number, PTX on every later chip: so the default has one of each major number
# from 7.5 on, and PTX of 10.0 for what lies between it and the newest.
AC_DEFUN([_GPUSTAT_CUDA_ARCH],
[AC_MSG_CHECKING([which GPUs to compile for])
cuda_arch_list=$with_cuda_arch
AS_IF([test "x$with_cuda_arch" = xdefault],
  [cuda_arch_list=
   cuda_known=" "`$NVCC --list-gpu-code 2>&AS_MESSAGE_LOG_FD | tr '\n' ' '`
   for arch in 75 80 90 100+ptx 120; do
     AS_CASE([$cuda_known],
       [*" sm_${arch%+ptx} "*], [AS_VAR_APPEND([cuda_arch_list], ["${cuda_arch_list:+ }$arch"])])
   done])

CUDA_ARCH_FLAGS=
AS_CASE([$cuda_arch_list],
  [native|all|all-major], [CUDA_ARCH_FLAGS="-arch=$cuda_arch_list"],
  [last=
   for arch in `AS_ECHO(["$cuda_arch_list"]) | tr ',;' '  '`; do
     last=`AS_ECHO(["$arch"]) | sed 's/^sm_//; s/^compute_//; s/+ptx$//; s/[[.]]//g'`
     AS_VAR_APPEND([CUDA_ARCH_FLAGS], [" -gencode arch=compute_$last,code=sm_$last"])
     AS_CASE([$arch],
       [*+ptx], [AS_VAR_APPEND([CUDA_ARCH_FLAGS], [" -gencode arch=compute_$last,code=compute_$last"])
                 last=])
   done
   # An architecture-specific target (90a) has no PTX that another chip could use.
   AS_CASE([$last],
     [''|*a|*f], [],
     [AS_VAR_APPEND([CUDA_ARCH_FLAGS], [" -gencode arch=compute_$last,code=compute_$last"])])])
AC_MSG_RESULT([$cuda_arch_list])
])

# Compiles a kernel and links it. nvcc's launch stubs hold a guarded static, so two
# small objects of the C++ library are needed: taken from its archive where there is
# one, since loading the shared library costs a program this short half its run time.
AC_DEFUN([_GPUSTAT_CUDA_WORKS],
[test -n "$NVCCFLAGS" || NVCCFLAGS=-O3
PROJECT_NVCCFLAGS="-std=c++17 -Xcompiler=-Wall,-Wextra,-fno-exceptions,-fno-rtti"
for flag in $HARDENING_CFLAGS; do
  AS_VAR_APPEND([PROJECT_NVCCFLAGS], [" -Xcompiler=$flag"])
done
AS_VAR_IF([enable_werror], [yes],
  [AS_VAR_APPEND([PROJECT_NVCCFLAGS], [" -Werror=all-warnings -Xcompiler=-Werror"])])

AC_MSG_CHECKING([whether $NVCC works])
cat >conftest_kernel.cu <<'_ACEOF'
#include <cuda_runtime.h>
__global__ void store(int *x) { *x = 1; }
extern "C" int launch(void);
extern "C" int launch(void) { store<<<1, 1>>>(nullptr); return cudaGetLastError() != cudaSuccess; }
_ACEOF
cuda_command="$NVCC $CUDA_ARCH_FLAGS $PROJECT_NVCCFLAGS $NVCCFLAGS -c -o conftest_kernel.o conftest_kernel.cu"
AS_ECHO(["$as_me: $cuda_command"]) >&AS_MESSAGE_LOG_FD
AS_IF([$cuda_command >&AS_MESSAGE_LOG_FD 2>&AS_MESSAGE_LOG_FD],
  [AC_MSG_RESULT([yes])
   _GPUSTAT_CUDA_LINKS],
  [AC_MSG_RESULT([no])
   cuda_summary="no ($NVCC cannot compile for '$cuda_arch_list'; see config.log)"])
rm -f conftest_kernel.*
])

AC_DEFUN([_GPUSTAT_CUDA_LINKS],
[AC_MSG_CHECKING([how to link the static CUDA runtime])
saved_LIBS=$LIBS
for cxx in "-Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -static-libgcc" -lstdc++; do
  CUDA_LIBS="${cuda_libdir:+-L$cuda_libdir }-lcudart_static $cxx -lpthread -ldl -lrt"
  LIBS="conftest_kernel.o $CUDA_LIBS $saved_LIBS"
  AC_LINK_IFELSE(
    [AC_LANG_PROGRAM([[int launch(void);]], [[return launch();]])],
    [have_cuda=yes])
  test "$have_cuda" = no || break
done
LIBS=$saved_LIBS
AS_VAR_IF([have_cuda], [yes],
  [AC_MSG_RESULT([$CUDA_LIBS])],
  [AC_MSG_RESULT([failed])
   CUDA_LIBS=
   cuda_summary="no ($CC cannot link the static CUDA runtime; see config.log)"])
])
