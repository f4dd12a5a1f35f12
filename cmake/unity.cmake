# Unity batches: files of one folder are compiled some at a time, so that what they share is read and instantiated once. Which
# files are together follows from the folder and the first letter of a name alone: a new file can clash with those of its own
# batch, in names of their unnamed namespaces, and with no others. Ops are together by the first letter of their folder. What
# many of them have in their unnamed namespaces has the name of its file in its name (`infer_softmax`, `update_sgdm`); a clash is
# an error of the compiler. Generated tables are one batch. The preset `clang` compiles each file by itself.

option(RETRACE_UNITY "Compile files of one folder together (OFF compiles each by itself)" ON)
set(RETRACE_UNITY_LARGE train data ops)  # folders of many files
set(RETRACE_UNITY_SMALL cloud device device/cpu device/cuda optim plan/layout tensor trace)  # one batch; others have two
set(RETRACE_UNITY_LARGE_LETTERS "[a-c]" "[d-h]" "[ij]" "[k-m]" "[no]" "[pq]" "r" "s" "[t-z]")
set(RETRACE_UNITY_LETTERS "[a-m]" "[n-z]")
set(RETRACE_UNITY_OP_LETTERS "[ab]" "c" "[d-h]" "[i-l]" "m" "[n-r]" "s" "[t-z]")  # a batch takes some seconds, and is tested within 15
# No step waits for these folders: -O1 takes a quarter less of compiling, and -O0, for builds that only tests run, half of it. CMake
# makes the file of a batch, whose place is known.
set(RETRACE_LIGHTLY_OPTIMIZED "cli|cloud|data|distributed|experiment|monitor|nn|optim|report|train|web")
# Of these the largest: for size, which takes 0.3 MB off the command, and as long to compile without the precompiled header,
# which is for another level. (Loops over pixels, in data, take 1.3 of their time so.)
set(RETRACE_OPTIMIZED_FOR_SIZE "train")
set(light_optimization -O1)
if(RETRACE_SANITIZE)
  set(light_optimization -O0)
endif()
set(RETRACE_LIGHT_OPTIMIZATION ${light_optimization} CACHE STRING "Optimization of folders that no step waits for: -O1, or -O0 for tests")
if(RETRACE_LIGHT_OPTIMIZATION STREQUAL "-O0")
  set(RETRACE_LIGHTLY_OPTIMIZED "cli|cloud|distributed|experiment|monitor|nn|optim|report|train|web")  # tests of data compute much
  set(RETRACE_OPTIMIZED_FOR_SIZE "none")
endif()
# What the fuzzers' inputs steer: its branches and comparisons are counted for them.
set(RETRACE_FUZZED "base|cloud|data|nn|ops|report|tensor|trace|train|web")

# Marks what may be united of the sources of `target` that follow; all tests of a target are one folder.
function(retrace_unite target)
  if(NOT RETRACE_UNITY)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM stem)
    if(source MATCHES "^${RETRACE_GENERATED_DIR}/retrace/")
      set_property(SOURCE "${source}" PROPERTY UNITY_GROUP tables)
      continue()
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/retrace" OUTPUT_VARIABLE relative)
    cmake_path(GET relative PARENT_PATH folder)
    if(folder MATCHES "^\\.\\.")
      continue()
    elseif(stem MATCHES "_test$")
      string(REGEX REPLACE "/.*" "" folder "${folder}")
    elseif(stem MATCHES "_cpu$")
      continue()
    endif()
    set(letters ${RETRACE_UNITY_LETTERS})
    if(folder MATCHES "^ops/(.*)")
      set(stem "${CMAKE_MATCH_1}")
      set(folder ops_each)
      set(letters ${RETRACE_UNITY_OP_LETTERS})
    endif()
    if(folder IN_LIST RETRACE_UNITY_SMALL AND NOT stem MATCHES "_test$")
      set(letters ".")
    elseif(folder IN_LIST RETRACE_UNITY_LARGE)
      set(letters ${RETRACE_UNITY_LARGE_LETTERS})
    endif()
    set(batch 0)
    foreach(range IN LISTS letters)
      if(stem MATCHES "^${range}")
        string(REPLACE "/" "_" name "${folder}")
        set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${name}_${batch}")
        set(options "")
        if(stem MATCHES "_test$")
        elseif(folder MATCHES "^(${RETRACE_OPTIMIZED_FOR_SIZE})(/|$)")
          list(APPEND options -Os)
        elseif(folder MATCHES "^(${RETRACE_LIGHTLY_OPTIMIZED})(/|$)")
          list(APPEND options ${RETRACE_LIGHT_OPTIMIZATION})
        endif()
        if(RETRACE_FUZZERS AND folder MATCHES "^(${RETRACE_FUZZED})(/|_|$)" AND NOT stem MATCHES "_test$")
          list(APPEND options -fsanitize-coverage=inline-8bit-counters,pc-table,indirect-calls,trace-cmp)
        endif()
        set(united "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${name}_${batch}_cxx.cxx")
        set_property(SOURCE "${united}" PROPERTY COMPILE_OPTIONS ${options})
        if(options MATCHES "-O[0s]")  # the precompiled header is for -O1
          set_property(SOURCE "${united}" PROPERTY SKIP_PRECOMPILE_HEADERS ON)
        endif()
      endif()
      math(EXPR batch "${batch} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Kernel files that Highway compiles for each instruction set, several as one: reading it takes a second of processor for each file.
# generated/kernels/LETTERS_cpu.cpp includes them, and Highway includes that. Those left out take some seconds by themselves.
set(RETRACE_KERNELS_ALONE contraction_tile_cpu moments_cpu row_kernels_cpu)
set(RETRACE_KERNEL_LETTERS "a-l" "m-r" "s-z")

# The batches of the kernel files among `sources` join `target`.
function(retrace_unite_kernels target)
  if(NOT RETRACE_UNITY)
    return()
  endif()
  foreach(range IN LISTS RETRACE_KERNEL_LETTERS)
    set(includes "")
    foreach(source IN LISTS ARGN)
      cmake_path(GET source STEM stem)
      if(NOT stem MATCHES "^[${range}].*_cpu$" OR stem IN_LIST RETRACE_KERNELS_ALONE)
        continue()
      endif()
      file(STRINGS "${source}" target_includes REGEX "^#include \"retrace/device/cpu/targets.h\"$")
      if(target_includes)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
        string(APPEND includes "#include \"${path}\"\n")
        set_property(SOURCE "${source}" PROPERTY HEADER_FILE_ONLY ON)
      endif()
    endforeach()
    if(includes)
      string(MAKE_C_IDENTIFIER "${range}" name)
      set(name "kernels/${name}_cpu.cpp")
      set(again "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${name}\"\n")  # each file has put its own name there
      retrace_write_if_different("${RETRACE_GENERATED_DIR}/${name}" "// Generated by cmake/unity.cmake.
${again}#include \"retrace/device/cpu/targets.h\"
//
${includes}${again}")
      target_sources(${target} PRIVATE "${RETRACE_GENERATED_DIR}/${name}")
      retrace_mark_kernels("${RETRACE_GENERATED_DIR}/${name}")
      set_property(SOURCE "${RETRACE_GENERATED_DIR}/${name}" PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
