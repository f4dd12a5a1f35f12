# examples/NAME.cpp to examples/NAME in the build folder; target `examples`. They see what a user's program sees.
# No test needs them, so target `all` leaves them out.

if(NOT RETRACE_EXAMPLES)
  return()
endif()

add_custom_target(examples)
file(GLOB example_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
foreach(source IN LISTS example_sources)
  cmake_path(GET source STEM name)
  add_executable(example_${name} EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(example_${name} PRIVATE retrace::retrace retrace_flags)
  retrace_link_emulation(example_${name})
  set_target_properties(example_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
  add_dependencies(examples example_${name})
endforeach()
