# fuzz/NAME_fuzz.cpp to fuzz/NAME in the build folder, with libFuzzer: only in the debug preset, whose library they share.

if(RETRACE_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "the fuzzers need Clang: cmake --preset debug")
  endif()
  add_custom_target(fuzzers)
  target_compile_options(retrace_lib PRIVATE -fsanitize=fuzzer-no-link)  # but the kernels: fuzzers run none
  file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp")
  foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_fuzz$" "" name "${name}")
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL "${source}")
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_${name} PRIVATE retrace::retrace retrace_flags)
    set_target_properties(fuzz_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    add_dependencies(fuzzers fuzz_${name})
  endforeach()
endif()
