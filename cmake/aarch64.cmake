# Toolchain: Clang 19 with the headers and libraries of Debian's cross compiler, and the arm64 packages that
# scripts/aarch64_check unpacks.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(packages "${CMAKE_CURRENT_LIST_DIR}/../build-aarch64/packages")
cmake_path(ABSOLUTE_PATH packages NORMALIZE)
set(CMAKE_FIND_ROOT_PATH "${packages}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${packages}/usr/lib/aarch64-linux-gnu")
