# The command: build/retrace. Its parts are an object library, so that test_cli can reach them.

include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

if(NOT RETRACE_COMMAND)
  return()
endif()

file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/cli/*.cpp")
list(FILTER command_sources EXCLUDE REGEX "_test\\.cpp$")
set(command_main "${PROJECT_SOURCE_DIR}/retrace/cli/main.cpp")
list(REMOVE_ITEM command_sources "${command_main}")

retrace_generate_kind_table(cli/commands header retrace/cli/command.h type CommandKind kind command namespace cli
                            sources command_sources)

if(command_sources)
  add_library(retrace_cli OBJECT ${command_sources})
  set_target_properties(retrace_cli PROPERTIES POSITION_INDEPENDENT_CODE ON)  # as what its precompiled header is made for
  target_link_libraries(retrace_cli PUBLIC retrace::retrace CLI11::CLI11 PRIVATE retrace_flags)
  retrace_unite(retrace_cli ${command_sources})
  if(RETRACE_PRECOMPILED_HEADERS)
    target_precompile_headers(retrace_cli REUSE_FROM retrace_lib)
  endif()
  target_compile_definitions(retrace_cli PRIVATE "RETRACE_VERSION=\"${PROJECT_VERSION}\"")
endif()
if(EXISTS "${command_main}")
  add_executable(retrace "${command_main}")
  target_link_libraries(retrace PRIVATE retrace::retrace CLI11::CLI11 retrace_flags)
  if(TARGET retrace_cli)
    target_link_libraries(retrace PRIVATE retrace_cli)
  endif()
  set_target_properties(retrace PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  # The same for machines with an older C library (scripts/gpu_pack): build/portable/retrace.
  add_executable(retrace_portable EXCLUDE_FROM_ALL "$<TARGET_OBJECTS:retrace>")
  set_target_properties(retrace_portable PROPERTIES
    OUTPUT_NAME retrace LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/portable")
  target_link_libraries(retrace_portable PRIVATE retrace::retrace CLI11::CLI11 retrace_flags)
  if(TARGET retrace_cli)
    target_link_libraries(retrace_portable PRIVATE retrace_cli)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT RETRACE_SANITIZE)
    target_link_options(retrace PRIVATE "-Wl,--gc-sections")
  endif()
  # Relocations as bits take 0.13 MB less; glibc reads them since 2.36.
  if(NOT RETRACE_SANITIZE)
    check_cxx_source_compiles("#include <features.h>\n#if !__GLIBC_PREREQ(2, 36)\n#error\n#endif\nint main() {}" RETRACE_READS_PACKED_RELOCATIONS)
    check_linker_flag(CXX "-Wl,--fatal-warnings,-z,pack-relative-relocs" RETRACE_PACKS_RELOCATIONS)
    if(RETRACE_READS_PACKED_RELOCATIONS AND RETRACE_PACKS_RELOCATIONS)
      target_link_options(retrace PRIVATE "-Wl,-z,pack-relative-relocs")
    endif()
  endif()
endif()
