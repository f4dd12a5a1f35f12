# Every library and the reason for it. All are Debian 12 packages (scripts/packages); nothing is downloaded or vendored.

find_package(Threads REQUIRED)
find_package(HWY REQUIRED)            # SIMD: one source for AVX2, AVX-512 and NEON, chosen at run time
find_package(fmt REQUIRED)            # text: exact shortest numbers, no locale
find_package(nlohmann_json REQUIRED)  # JSON: results, metrics, safetensors headers (SAX, so that limits hold)
find_package(tomlplusplus REQUIRED)   # job files: TOML with line numbers for messages
if(RETRACE_COMMAND)
  find_package(CLI11 REQUIRED)        # command line (in one translation unit)
endif()
find_package(ZLIB REQUIRED)           # gzip: IDX files come compressed
find_package(zstd REQUIRED CONFIG)    # archives of images
find_package(LibLZMA REQUIRED)        # embedded images of CUDA kernels and the live page
find_package(PNG REQUIRED)            # contact sheets and plots; images of users
find_package(JPEG REQUIRED)           # images of users: libjpeg-turbo, whose integer arithmetic has the same bits everywhere
# Debian keeps a part of its headers in the folder of the architecture: where packages are unpacked elsewhere, no compiler
# looks there.
find_path(RETRACE_JPEG_CONFIG_DIR jconfig.h HINTS ${JPEG_INCLUDE_DIRS} PATH_SUFFIXES "${CMAKE_LIBRARY_ARCHITECTURE}")
mark_as_advanced(RETRACE_JPEG_CONFIG_DIR)
if(RETRACE_JPEG_CONFIG_DIR)
  set_property(TARGET JPEG::JPEG APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${RETRACE_JPEG_CONFIG_DIR}")
endif()

set(missing_packages "")
if(RETRACE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)  # ranks of mpirun, in a module that is loaded when they are wanted (mpi.cmake)
  if(NOT MPI_CXX_FOUND)
    list(APPEND missing_packages MPI)
  endif()
endif()

set(RETRACE_SQLITE_LIBRARY "")
if(NOT RETRACE_SQLITE STREQUAL "OFF")
  find_package(SQLite3 QUIET)
  find_package(SQLiteCpp QUIET CONFIG)  # the trials of experiments, in a file that survives a kill
  if(TARGET SQLiteCpp)
    set(RETRACE_SQLITE_LIBRARY "$<LINK_ONLY:SQLiteCpp>")  # one file of ours is compiled with its flags
  elseif(RETRACE_SQLITE STREQUAL "AUTO")
    list(APPEND missing_packages SQLiteCpp)
    message(STATUS "SQLiteCpp not found: `retrace sweep` will say so (make packages LIST=demo)")
  else()
    message(FATAL_ERROR "SQLiteCpp not found: install libsqlitecpp-dev and libsqlite3-dev, or -DRETRACE_SQLITE=OFF")
  endif()
endif()

set(RETRACE_PAGE_FOUND OFF)
if(NOT RETRACE_PAGE STREQUAL "OFF")
  find_path(RETRACE_BEAST boost/beast/http/parser.hpp)  # HTTP: what browsers send, within bounds
  find_path(RETRACE_DYGRAPHS dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH)  # curves in a browser
  mark_as_advanced(RETRACE_BEAST RETRACE_DYGRAPHS)
  if(RETRACE_BEAST AND RETRACE_DYGRAPHS)
    set(RETRACE_PAGE_FOUND ON)
  elseif(RETRACE_PAGE STREQUAL "AUTO")
    list(APPEND missing_packages Page)
    message(STATUS "Boost.Beast or dygraphs not found: `retrace monitor` will say so (make packages LIST=demo)")
  else()
    message(FATAL_ERROR "Boost.Beast or dygraphs not found: install libboost1.81-dev and libjs-dygraphs, or -DRETRACE_PAGE=OFF")
  endif()
endif()

if(RETRACE_EXAMPLES OR NOT RETRACE_TESTS STREQUAL "OFF")
  find_package(Boost 1.81 CONFIG QUIET COMPONENTS context)  # fibers: threads of the emulated CUDA device
  if(NOT TARGET Boost::context)
    list(APPEND missing_packages Boost)
  endif()
endif()

set(RETRACE_BUILD_TESTS OFF)
set(RETRACE_BUILD_BENCHES OFF)
if(NOT RETRACE_TESTS STREQUAL "OFF")
  if(RETRACE_TESTS STREQUAL "ON" OR RETRACE_TESTS STREQUAL "1")
    set(required REQUIRED)
  else()
    set(required QUIET)
  endif()
  find_package(GTest ${required})       # tests
  find_package(rapidcheck ${required})  # property tests
  if(NOT RETRACE_SANITIZE)
    find_package(benchmark ${required})  # timings of single ops
  endif()
  if(GTest_FOUND AND rapidcheck_FOUND)
    set(RETRACE_BUILD_TESTS ON)
  else()
    list(APPEND missing_packages GTest)
    message(STATUS "GoogleTest or rapidcheck not found: the tests are left out (make packages LIST=test)")
  endif()
  if(benchmark_FOUND)
    set(RETRACE_BUILD_BENCHES ON)
  elseif(NOT RETRACE_SANITIZE)
    list(APPEND missing_packages benchmark)
    message(STATUS "Google Benchmark not found: the benches are left out (make packages LIST=test)")
  endif()
endif()

# What is left out for want of a package is looked for again, by any build, once packages have come.
find_file(RETRACE_PACKAGE_DATABASE dpkg/status PATHS /var/lib NO_DEFAULT_PATH DOC "Changes when packages come")
mark_as_advanced(RETRACE_PACKAGE_DATABASE)
if(missing_packages AND RETRACE_PACKAGE_DATABASE AND PROJECT_IS_TOP_LEVEL)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${RETRACE_PACKAGE_DATABASE}")
endif()
