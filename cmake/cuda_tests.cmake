# What tests of CUDA need: a driver that is not one, kernels of a .cu file, and CUDA's header where there is one.
# tests/cuda_check compiles kernels as a run would (make cuda-check).

if(TARGET test_device)
  file(GLOB fake_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fake_cuda/*.cpp")
  add_library(fake_cuda SHARED ${fake_sources})
  set_target_properties(fake_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_link_libraries(fake_cuda PRIVATE retrace_flags)
  target_include_directories(fake_cuda PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(test_device PRIVATE fake_cuda)
  target_compile_definitions(test_device PRIVATE "FAKE_CUDA_FILE=\"$<TARGET_FILE:fake_cuda>\"")
  retrace_add_kernel_images(test_device test_images "${PROJECT_SOURCE_DIR}/tests/cuda_rules_check.cu")
  find_path(cuda_include cuda.h HINTS "$ENV{CUDA_HOME}/include" /usr/local/cuda/include)
  if(cuda_include)
    target_include_directories(test_device SYSTEM PRIVATE "${cuda_include}")
  endif()
endif()

add_executable(cuda_check tests/cuda_check.cpp)
target_link_libraries(cuda_check PRIVATE retrace::retrace retrace_flags)
retrace_link_emulation(cuda_check)
set_target_properties(cuda_check PROPERTIES EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
