# libretrace.a, or with -DBUILD_SHARED_LIBS=ON libretrace.so: everything under retrace/ but the command, the emulated CUDA device, the MPI module and the tests.

file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/*.cpp")
list(FILTER library_sources EXCLUDE REGEX "(_test\\.cpp$|/retrace/cli/|/cuda/emulation/|/mpi_module/)")

# Folders that read, write and report, and compute nothing within a step, take -O1: two thirds of the time of compiling.
set(host_sources "")
foreach(folder IN ITEMS cloud monitor report train)
  file(GLOB_RECURSE of_folder CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/${folder}/*.cpp")
  list(FILTER of_folder EXCLUDE REGEX "_test\\.cpp$")
  list(APPEND host_sources ${of_folder})
endforeach()
list(REMOVE_ITEM library_sources ${host_sources})
add_library(retrace_host OBJECT ${host_sources})
target_compile_options(retrace_host PRIVATE "$<$<CONFIG:Release>:-O1>")

add_library(retrace_lib ${library_sources} ${RETRACE_GENERATED_SOURCES} "$<TARGET_OBJECTS:retrace_host>")
add_library(retrace::retrace ALIAS retrace_lib)
set_target_properties(retrace_lib PROPERTIES
  OUTPUT_NAME retrace EXPORT_NAME retrace
  ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
  VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}" DEFINE_SYMBOL "")
# Compiled code needs our flags and the headers of other libraries; programs that use the library keep their own flags, see
# no header but ours, and link the others only with libretrace.a.
target_link_libraries(retrace_flags INTERFACE hwy::hwy fmt::fmt nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus)
set(RETRACE_LINKED hwy::hwy fmt::fmt tomlplusplus::tomlplusplus ZLIB::ZLIB zstd::libzstd_shared PNG::PNG JPEG::JPEG Threads::Threads
                   ${CMAKE_DL_LIBS})
foreach(part IN ITEMS retrace_lib retrace_host)
  target_compile_features(${part} PUBLIC cxx_std_20)
  set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${part} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                            "$<BUILD_INTERFACE:${RETRACE_GENERATED_DIR}>" "$<INSTALL_INTERFACE:include>")
  target_link_libraries(${part} PRIVATE "$<BUILD_INTERFACE:retrace_flags>" "$<BUILD_INTERFACE:nlohmann_json::nlohmann_json>"
                                        ${RETRACE_LINKED})
  target_compile_definitions(${part} PRIVATE "RETRACE_VERSION=\"${PROJECT_VERSION}\"")
endforeach()
retrace_mark_kernels(${library_sources} ${RETRACE_GENERATED_SOURCES})
retrace_unite(retrace_lib ${library_sources})
retrace_unite(retrace_host ${host_sources})

# What nearly every file includes, read once for each set of flags (GCC 12 breaks off where those of the header differ): a
# third of compiling. Kernel files have flags of their own.
if(RETRACE_PRECOMPILED_HEADERS)
  foreach(part IN ITEMS retrace_lib retrace_host)
    target_precompile_headers(${part} PRIVATE
      <algorithm> <array> <cstring> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <variant>
      <vector> <fmt/format.h>
      "${PROJECT_SOURCE_DIR}/retrace/trace/op.h" "${PROJECT_SOURCE_DIR}/retrace/trace/record.h"
      "${PROJECT_SOURCE_DIR}/retrace/tensor/tree.h")
  endforeach()
  set(kernels ${library_sources} ${RETRACE_GENERATED_SOURCES})
  list(FILTER kernels INCLUDE REGEX "_cpu\\.cpp$")
  set_property(SOURCE ${kernels} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endif()

# The same objects as a shared library, for the test of what is installed.
get_target_property(type retrace_lib TYPE)
if(type STREQUAL STATIC_LIBRARY)
  add_library(retrace_shared SHARED EXCLUDE_FROM_ALL "$<TARGET_OBJECTS:retrace_lib>" "$<TARGET_OBJECTS:retrace_host>")
  set_target_properties(retrace_shared PROPERTIES
    OUTPUT_NAME retrace LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/shared"
    VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  target_link_libraries(retrace_shared PRIVATE ${RETRACE_LINKED})
endif()
