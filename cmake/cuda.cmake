# CUDA: kernels beside the CPU ones (*.cu), and every scalar rule through nvcc. Only in the cuda preset.

if(RETRACE_CUDA)
  find_program(CMAKE_CUDA_COMPILER nvcc HINTS /usr/local/cuda/bin REQUIRED)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc has C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/*.cu")
  target_sources(retrace_lib PRIVATE ${cuda_sources})

  # Target cuda_rules: one object a rule, so that a rule that only the host can compile is found.
  retrace_generate_from_rules("${PROJECT_SOURCE_DIR}/cmake/rule_kernel.cu.in" ".cu" rule_sources)
  add_library(cuda_rules OBJECT ${rule_sources})
  target_link_libraries(cuda_rules PRIVATE retrace_flags)
  target_include_directories(cuda_rules PRIVATE "${PROJECT_SOURCE_DIR}" "${RETRACE_GENERATED_DIR}")
endif()
