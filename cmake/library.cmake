# libretrace.a, or with -DBUILD_SHARED_LIBS=ON libretrace.so: everything under retrace/ but the command, the emulated CUDA device, the MPI module and the tests.

file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/*.cpp")
list(FILTER library_sources EXCLUDE REGEX "(_test\\.cpp$|/retrace/cli/|/cuda/emulation/|/mpi_module/)")

add_library(retrace_lib ${library_sources} ${RETRACE_GENERATED_SOURCES})
add_library(retrace::retrace ALIAS retrace_lib)
set_target_properties(retrace_lib PROPERTIES
  OUTPUT_NAME retrace EXPORT_NAME retrace POSITION_INDEPENDENT_CODE ON
  ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
  VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}" DEFINE_SYMBOL "")
target_compile_features(retrace_lib PUBLIC cxx_std_20)
target_include_directories(retrace_lib PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                              "$<BUILD_INTERFACE:${RETRACE_GENERATED_DIR}>"
                                              "$<INSTALL_INTERFACE:include>")
# Compiled code needs our flags and the headers of other libraries; programs that use the library keep their own flags, see
# no header but ours, and link the others only with libretrace.a.
target_link_libraries(retrace_flags INTERFACE hwy::hwy fmt::fmt nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus)
target_link_libraries(retrace_lib PRIVATE "$<BUILD_INTERFACE:retrace_flags>" "$<BUILD_INTERFACE:nlohmann_json::nlohmann_json>"
                                          hwy::hwy fmt::fmt tomlplusplus::tomlplusplus ZLIB::ZLIB zstd::libzstd_shared LibLZMA::LibLZMA PNG::PNG JPEG::JPEG
                                          Threads::Threads ${RETRACE_SQLITE_LIBRARY} ${CMAKE_DL_LIBS})
target_compile_definitions(retrace_lib PRIVATE "RETRACE_VERSION=\"${PROJECT_VERSION}\"")
if(RETRACE_SQLITE_LIBRARY)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/retrace/experiment/study.cpp" PROPERTIES
    COMPILE_DEFINITIONS "RETRACE_SQLITE;SQLITE_ENABLE_COLUMN_METADATA" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endif()
retrace_mark_kernels(${library_sources} ${RETRACE_GENERATED_SOURCES})
retrace_unite(retrace_lib ${library_sources} ${RETRACE_GENERATED_SOURCES})
retrace_unite_kernels(retrace_lib ${library_sources})
retrace_alone_for_size(retrace_lib "${PROJECT_SOURCE_DIR}/retrace/experiment/study.cpp" "${PROJECT_SOURCE_DIR}/retrace/web/http_message.cpp")
retrace_put_small_batches_last(retrace_lib)

# What nearly every file includes, read once: a third of compiling. Kernel files have flags of their own.
if(RETRACE_PRECOMPILED_HEADERS)
  set(common_headers
    <algorithm> <array> <cstring> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <variant>
    <vector> <fmt/format.h>
    "${PROJECT_SOURCE_DIR}/retrace/trace/op.h" "${PROJECT_SOURCE_DIR}/retrace/trace/record.h"
    "${PROJECT_SOURCE_DIR}/retrace/tensor/tree.h")
  target_precompile_headers(retrace_lib PRIVATE ${common_headers})
  retrace_precompile_light_header(retrace_lib ${common_headers} <charconv> <chrono> <cmath> <filesystem>
    "${PROJECT_SOURCE_DIR}/retrace/base/file.h" "${PROJECT_SOURCE_DIR}/retrace/base/json.h"
    "${PROJECT_SOURCE_DIR}/retrace/nn/layer_kind.h" "${RETRACE_GENERATED_DIR}/retrace/ops/ops.h")
  set(kernels ${library_sources} ${RETRACE_GENERATED_SOURCES})
  list(FILTER kernels INCLUDE REGEX "_cpu\\.cpp$")
  set_property(SOURCE ${kernels} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endif()

# The same objects as a shared library, for the test of what is installed.
get_target_property(type retrace_lib TYPE)
if(type STREQUAL STATIC_LIBRARY)
  add_library(retrace_shared SHARED EXCLUDE_FROM_ALL "$<TARGET_OBJECTS:retrace_lib>")
  set_target_properties(retrace_shared PROPERTIES
    OUTPUT_NAME retrace LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/shared"
    VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  target_link_libraries(retrace_shared PRIVATE hwy::hwy fmt::fmt tomlplusplus::tomlplusplus ZLIB::ZLIB zstd::libzstd_shared LibLZMA::LibLZMA PNG::PNG JPEG::JPEG
                                               Threads::Threads ${RETRACE_SQLITE_LIBRARY} ${CMAKE_DL_LIBS})
endif()
