# Tests: retrace/FOLDER/**/*_test.cpp is test_FOLDER (with the kernels in *_test.cu, on the emulated device),
# tests/NAME_test.cpp is test_NAME. Benches: bench/NAME.cpp is bench/NAME in the build folder; they share bench/common.

# What looks at the clock runs alone; other tests run side by side.
set(tests_with_clocks device distributed optim workers command_cli command_mpi command_train_ranks)

enable_testing()

function(retrace_add_test name)
  add_executable(test_${name} ${ARGN})
  target_link_libraries(test_${name} PRIVATE retrace::retrace retrace_flags GTest::gtest_main GTest::gtest rapidcheck)
  target_compile_definitions(test_${name} PRIVATE "RETRACE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\""
                                                  "RETRACE_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
  retrace_link_emulation(test_${name})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # One ctest entry an executable: it runs from the source tree, so that tests find jobs/ and tests/data.
  add_test(NAME ${name} COMMAND test_${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

if(RETRACE_BUILD_TESTS)
  file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/*_test.cpp")
  if(NOT TARGET retrace_emulation)
    list(FILTER test_sources EXCLUDE REGEX "/cuda/emulation/")
  endif()
  set(test_folders "")
  foreach(source IN LISTS test_sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/retrace" OUTPUT_VARIABLE relative)
    string(REGEX REPLACE "/.*" "" folder "${relative}")
    list(APPEND test_folders "${folder}")
    list(APPEND test_sources_of_${folder} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES test_folders)
  foreach(folder IN LISTS test_folders)
    retrace_add_test(${folder} ${test_sources_of_${folder}})
    if(TARGET retrace_emulation)
      file(GLOB_RECURSE test_kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/${folder}/*_test.cu")
      retrace_emulate("${test_kernels}" emulated_kernels)
      target_sources(test_${folder} PRIVATE ${emulated_kernels})
    endif()
  endforeach()
  if(TARGET test_cli AND TARGET retrace_cli)
    target_link_libraries(test_cli PRIVATE retrace_cli CLI11::CLI11)
  endif()

  file(GLOB tree_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*_test.cpp")
  foreach(source IN LISTS tree_tests)
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "_test$" "" name "${name}")
    retrace_add_test(${name} "${source}")
    if(TARGET retrace)
      add_dependencies(test_${name} retrace)
    endif()
  endforeach()
endif()

# What each rank does in tests/mpi_test.sh.
if(RETRACE_BUILD_TESTS AND TARGET retrace_mpi)
  add_executable(mpi_ranks tests/mpi_ranks.cpp)
  target_link_libraries(mpi_ranks PRIVATE retrace::retrace retrace_flags)
  set_target_properties(mpi_ranks PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_dependencies(mpi_ranks retrace_mpi)
endif()

# tests/NAME_test.sh gets the path of the command, and exits 77 where it cannot be run.
if(TARGET retrace)
  file(GLOB script_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*_test.sh")
  foreach(script IN LISTS script_tests)
    cmake_path(GET script STEM name)
    string(REGEX REPLACE "_test$" "" name "${name}")
    add_test(NAME command_${name} COMMAND sh "${script}" "$<TARGET_FILE:retrace>" WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(command_${name} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()

# The golden runs inside a program compiled and linked with -Ofast: its start-up code turns on flush-to-zero, and
# tests/ofast_main.cpp sets another rounding mode.
if(TARGET test_golden AND NOT RETRACE_SANITIZE)
  add_executable(test_golden_ofast tests/golden_test.cpp tests/ofast_main.cpp)
  set(ofast "$<IF:$<CXX_COMPILER_ID:GNU>,-Ofast,-O3;-ffast-math>")
  target_compile_options(test_golden_ofast PRIVATE "${ofast}" -Wall -Wextra)
  target_link_options(test_golden_ofast PRIVATE "${ofast}")
  target_link_libraries(test_golden_ofast PRIVATE retrace::retrace GTest::gtest rapidcheck)
  target_compile_definitions(test_golden_ofast PRIVATE "RETRACE_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\""
                                                       "RETRACE_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
  set_target_properties(test_golden_ofast PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME golden_ofast COMMAND test_golden_ofast WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endif()

foreach(name IN LISTS tests_with_clocks)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()

# Not in ctest: every input of every elementary function (make test-exhaustive).
if(RETRACE_BUILD_TESTS AND EXISTS "${PROJECT_SOURCE_DIR}/tests/exhaustive.cpp")
  add_executable(exhaustive tests/exhaustive.cpp)
  target_link_libraries(exhaustive PRIVATE retrace::retrace retrace_flags)
  set_target_properties(exhaustive PROPERTIES EXCLUDE_FROM_ALL ON
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
endif()

add_custom_target(benches)
if(RETRACE_BUILD_BENCHES)
  file(GLOB bench_common CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/common/*.cpp")
  add_library(bench_common OBJECT EXCLUDE_FROM_ALL ${bench_common})
  target_link_libraries(bench_common PUBLIC retrace::retrace retrace_flags)
  retrace_mark_kernels(${bench_common})
  file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
  foreach(source IN LISTS bench_sources)
    cmake_path(GET source STEM name)
    add_executable(bench_${name} "${source}")
    target_link_libraries(bench_${name} PRIVATE bench_common benchmark::benchmark)
    set_target_properties(bench_${name} PROPERTIES
      OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
    add_dependencies(benches bench_${name})
  endforeach()

  # bench/ops with one chain for each sum of a convolution, in place of the library's own kernels: what the fixed order
  # costs.
  file(GLOB one_chain CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/ops/conv2d/*_cpu.cpp")
  add_executable(bench_ops_one_chain "${PROJECT_SOURCE_DIR}/bench/ops.cpp" ${one_chain})
  target_compile_definitions(bench_ops_one_chain PRIVATE RETRACE_BENCH_ONE_CHAIN)
  target_link_libraries(bench_ops_one_chain PRIVATE bench_common benchmark::benchmark)
  set_target_properties(bench_ops_one_chain PROPERTIES
    OUTPUT_NAME ops_one_chain RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  add_dependencies(benches bench_ops_one_chain)
endif()
