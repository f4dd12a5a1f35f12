#!/bin/sh
# What others build on: install_test.sh PATH_OF_RETRACE. Installs from its build folder, static and shared, and builds and
# runs programs of users by find_package and pkg-config as docs/use.md says, also from a prefix that was moved; as a subproject
# only the library is built; what was left out for want of a package is found when packages come. Exits 77 in builds with
# sanitizers.
set -u
build=$(dirname "$(realpath "$1")")
source=$(realpath .)
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
[ -z "$(cached RETRACE_SANITIZE)" ] || {
  echo "install_test: SKIPPED, programs of users have no sanitizers"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
export CXX="$(cached CMAKE_CXX_COMPILER)"
unset CXXFLAGS LDFLAGS MAKEFLAGS 2>/dev/null

fail() {
  echo "FAILED: $*" >&2
  [ ! -s "$work/log" ] || tail -n 20 "$work/log" >&2
  failures=$((failures + 1))
}
quietly() { "$@" >"$work/log" 2>&1; }

# A program that warns of much, none of it in retrace's headers.
mkdir "$work/app"
cat >"$work/app/main.cpp" <<'PROGRAM'
#include <cstdio>

#include "retrace/retrace.h"

int main() {
  const retrace::Tensor x = retrace::Tensor::from({1.0f, 2.0f, 3.0f}, retrace::Shape{3});
  std::printf("%g\n", static_cast<double>(retrace::sum(x * x).item<float>()));
}
PROGRAM
# Its first block of CMake is a whole CMakeLists.txt, its first listing a program.
sed -n '/^```cmake$/,/^```$/{/^```$/q;/^```/d;p}' docs/use.md >"$work/app/CMakeLists.txt"
grep -q 'find_package(retrace' "$work/app/CMakeLists.txt" || fail 'docs/use.md has no CMakeLists.txt to try'
sed -n '/^```cpp$/,/^```$/{/^```$/q;/^```/d;p}' docs/use.md >"$work/app/mlp.cpp"
cp tests/install/*.cpp "$work/app"
warnings='-Wall -Wextra -Wshadow -Wconversion -Werror'

says_14() { [ "$($1 2>&1)" = 14 ] || fail "$2: the program says '$($1 2>&1)'"; }

# --- Installed, then moved.
quietly cmake --install "$build" --prefix "$work/first" || fail 'cmake --install'
mv "$work/first" "$work/moved"
cp -r "$work/app" "$work/programs"
for program in mlp two_heads custom_loop; do
  sed -n "s/\bapp\b/$program/g;s/main\.cpp/$program.cpp/;/^add_executable\|^target_link/p" "$work/app/CMakeLists.txt"
done >>"$work/programs/CMakeLists.txt"
quietly cmake -S "$work/programs" -B "$work/found" -G Ninja -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_FLAGS="$warnings" &&
  quietly cmake --build "$work/found" || fail 'find_package'
says_14 "$work/found/app" find_package

# --- Programs as users write them.
printed=$(cd "$work" && found/mlp | sed -n 's/^fingerprint //p')
grep -q "\`fingerprint $printed\`" docs/use.md || fail "the program of docs/use.md prints the fingerprint '$printed'"
for program in two_heads custom_loop; do
  [ "$("$work/found/$program" 2>"$work/log")" = learns ] || fail "tests/install/$program.cpp"
done

# --- Nothing is installed that retrace.h does not reach.
(cd "$work/moved/include" && find retrace -type f | sort) >"$work/installed"
$CXX -std=c++20 -M -I"$work/moved/include" "$work/app/main.cpp" | tr -s ' \\' '\n\n' |
  sed -n "s|^$work/moved/include/\(.*\)|\1|p" | sort >"$work/reached"
cmp -s "$work/installed" "$work/reached" || fail "installed and reached headers: $(diff "$work/installed" "$work/reached")"

# --- Shared: the same objects, linked and installed as -DBUILD_SHARED_LIBS=ON would.
quietly ninja -C "$build" retrace_shared || fail 'retrace_shared'
quietly cmake -S "$source" -B "$work/shared" -G Ninja -DBUILD_SHARED_LIBS=ON -DRETRACE_TESTS=OFF -DRETRACE_EXAMPLES=OFF \
  -DRETRACE_COMMAND=OFF -DRETRACE_MPI=OFF -DRETRACE_CUDA=OFF || fail 'BUILD_SHARED_LIBS'
cp -a "$build"/shared/libretrace.so* "$work/shared"
quietly cmake --install "$work/shared" --prefix "$work/so" || fail 'install of libretrace.so'
quietly cmake -S "$work/app" -B "$work/found_so" -G Ninja -DCMAKE_PREFIX_PATH="$work/so" -DCMAKE_CXX_FLAGS="$warnings" &&
  quietly cmake --build "$work/found_so" || fail 'find_package of libretrace.so'
says_14 "$work/found_so/app" 'find_package of libretrace.so'
readelf -d "$work/found_so/app" | grep -q 'NEEDED.*\[libretrace\.so\.[0-9]*\.[0-9]*\]' || fail 'libretrace.so has no soname'

# --- pkg-config, by the line of docs/use.md.
if command -v pkg-config >/dev/null; then
  line=$(sed -n 's/^g++ \(-std=c++20 main.cpp .*\)$/\1/p' docs/use.md)
  [ -n "$line" ] || fail 'docs/use.md has no line with pkg-config'
  package=$(dirname "$(find "$work/moved" -name retrace.pc)")
  (
    cd "$work/app" || exit 1
    export PKG_CONFIG_PATH="$package"
    eval "$CXX $warnings $line"
  ) >"$work/log" 2>&1 || fail 'pkg-config'
  says_14 "$work/app/app" pkg-config
  package=$(dirname "$(find "$work/so" -name retrace.pc)")
  (
    cd "$work/app" || exit 1
    export PKG_CONFIG_PATH="$package"
    eval "$CXX $line"
  ) >"$work/log" 2>&1 || fail 'pkg-config of libretrace.so'
  says_14 "env LD_LIBRARY_PATH=$(dirname "$package") $work/app/app" 'pkg-config of libretrace.so'
  # One sentence where exceptions or run-time type information are off.
  for flag in exceptions rtti; do
    (cd "$work/app" && eval "$CXX -std=c++20 -fno-$flag -fsyntax-only -I'$work/moved/include' main.cpp") >"$work/log" 2>&1 &&
      fail "-fno-$flag is accepted"
    grep -m 1 'error' "$work/log" | grep -q "compile without -fno-$flag" || fail "-fno-$flag is not the first error"
  done
fi

# --- A part of another project: nothing but the library, and the other project's own settings.
sed "s|find_package(retrace REQUIRED)|add_subdirectory(\"$source\" retrace)|" "$work/app/CMakeLists.txt" >"$work/log"
mv "$work/log" "$work/app/CMakeLists.txt"
quietly cmake -S "$work/app" -B "$work/sub" -G Ninja -DRETRACE_CUDA=OFF -DCMAKE_CXX_FLAGS="$warnings" || fail add_subdirectory
made=$(ninja -C "$work/sub" -t query all | sed -n '/input:/,/outputs:/{/:/d;s/^ *|* *//;p}' | sort | tr '\n' ' ')
[ "$made" = 'app retrace/all ' ] || fail "add_subdirectory: all is $made"
made=$(ninja -C "$work/sub" -t query retrace/all | sed -n '/input:/,/outputs:/{/:/d;s/^ *|* *//;p}' | tr '\n' ' ')
[ "$made" = 'retrace/libretrace.a ' ] || fail "add_subdirectory: the library's all is $made"
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$work/sub/CMakeCache.txt" || fail 'add_subdirectory: a build type is forced'
quietly ninja -C "$work/sub" CMakeFiles/app.dir/main.cpp.o || fail 'add_subdirectory: the program is not compiled'

# --- The oldest compiler that is taken, where there is one: a file that it refused. (make matrix builds all with the newest.)
if command -v clang++-14 >/dev/null; then
  quietly clang++-14 -std=c++20 -fsyntax-only -I"$source" -I"$build/generated" "$source/retrace/run/evaluate.cpp" ||
    fail 'Clang 14'
fi

# --- Packages that come later: here MPI is hidden, and the list of packages is our own.
if grep -q '^MPI_CXX_HEADER_DIR:PATH=/' "$build/CMakeCache.txt"; then
  echo none >"$work/status"
  quietly cmake -S "$source" -B "$work/later" -G Ninja -DRETRACE_TESTS=OFF -DRETRACE_EXAMPLES=OFF -DRETRACE_CUDA=OFF \
    -DRETRACE_PACKAGE_DATABASE="$work/status" -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON || fail 'a configure without MPI'
  ninja -C "$work/later" -t query retrace_mpi >/dev/null 2>&1 && fail 'a module of MPI without MPI'
  sed '/^CMAKE_DISABLE_FIND_PACKAGE_MPI/s/=ON$/=OFF/' "$work/later/CMakeCache.txt" >"$work/cache"
  touch -r "$work/later/CMakeCache.txt" "$work/cache"
  mv "$work/cache" "$work/later/CMakeCache.txt"
  quietly ninja -C "$work/later" build.ninja
  ninja -C "$work/later" -t query retrace_mpi >/dev/null 2>&1 && fail 'configured again without a reason'
  touch "$work/status"
  quietly ninja -C "$work/later" build.ninja || fail 'configuring again'
  ninja -C "$work/later" -t query retrace_mpi >/dev/null 2>&1 || fail 'MPI is not found after it came'
fi

[ $failures -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
echo "install_test: all passed"
