# libretrace_mpi.so beside the command: all that is linked with MPI. Library and command load it when ranks are wanted,
# so they run on machines without MPI, too.

if(MPI_CXX_FOUND)
  file(GLOB mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/distributed/mpi_module/*.cpp")
  add_library(retrace_mpi MODULE ${mpi_sources})
  target_include_directories(retrace_mpi PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(retrace_mpi PRIVATE MPI::MPI_CXX retrace_flags)
  # MPI's libraries for C++ come with the flags and are not needed.
  target_link_options(retrace_mpi PRIVATE LINKER:--as-needed)
  set_target_properties(retrace_mpi PROPERTIES CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  if(TARGET retrace)
    add_dependencies(retrace retrace_mpi)
  endif()
elseif(RETRACE_MPI)
  message(STATUS "MPI not found: libretrace_mpi.so is left out (make packages LIST=development)")
endif()
