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
set(RETRACE_UNITY_TEST_LETTERS "[a-h]" "[i-m]" "[n-r]" "[s-z]")  # of data and ops; tests of train are nine batches, of other folders one
set(RETRACE_UNITY_OP_LETTERS "[ab]" "c" "[d-h]" "[i-l]" "m" "[n-r]" "s" "[t-z]")  # a batch takes some seconds, and is tested within 15
# No step waits for these folders: -O1 takes a quarter less of compiling, and -O0, for builds that only tests run, half of it. CMake
# makes the file of a batch, whose place is known.
set(RETRACE_LIGHTLY_OPTIMIZED "cli|cloud|data|data_loops|device/cuda|distributed|experiment|monitor|nn|optim|plan/cuda|report|train|web")
# Of these all but loops over what data are made of: for size, which takes 1.2 MB off the command.
set(RETRACE_OPTIMIZED_FOR_SIZE "cli|cloud|data|device/cuda|ops_small|distributed|experiment|monitor|nn|optim|plan/cuda|report|train|web")
# So are files of ops that compute nothing on a processor: launches for CUDA, which plans hold, and ops that models record seldom
# (recording one of them takes up to 1.06 of its time so).
set(RETRACE_OPS_RECORDED_SELDOM absolute_error adaptive_pool1d adaptive_pool2d adaptive_pool3d all_reduce argmax asin asinh atan2 average_pool1d average_pool3d binary_cross_entropy
                                bitwise checkpoint clamp clipped_relu compare conv1d conv3d cos cosh cosine_similarity cross_channel_norm
                                ctc_loss cumsum custom_gradient diagonal einsum elu erf expm1 flip gelu gelu_tanh glu group_norm gru hard_sigmoid
                                hard_swish hard_tanh isfinite kl_divergence leaky_relu likelihood_loss log1p log_sigmoid logical logsumexp lstm
                                max_pool1d max_pool3d max_unpool2d mish norm one_hot pad pixel_shuffle pow prod quantile random_choice remainder resize2d rnn
                                rotary_embedding round scan selu sign silu sin sinh softplus softsign sort split take_along_axis tan transposed_conv1d transposed_conv2d
                                transposed_conv3d triplet_loss unfold vmap)
set(RETRACE_UNITY_SMALL_OP_LETTERS "[ab]" "c" "[d-l]" "[m-r]" "[s-z]")
# Files of data, and of data/transforms all, with loops over numbers or text that take 1.1 to 1.4 of their time so.
set(RETRACE_DATA_LOOPS affine augment batch_maker csv csv_encoding csv_table device_rows digits image_channels image_fit
                       jpeg_decoder pair_vocabulary peaks png_decoder pretokens random_stream resize stack strokes text_store)
set(light_optimization -O1)
if(RETRACE_SANITIZE)
  set(light_optimization -O0)
endif()
set(RETRACE_LIGHT_OPTIMIZATION ${light_optimization} CACHE STRING "Optimization of folders that no step waits for: -O1, or -O0 for tests")
set(RETRACE_LIGHT_HEADER_LEVEL -Os)
if(RETRACE_LIGHT_OPTIMIZATION STREQUAL "-O0")
  # tests of data and of the emulated device compute much
  set(RETRACE_LIGHTLY_OPTIMIZED "cli|cloud|distributed|experiment|monitor|nn|optim|report|train|web")
  set(RETRACE_OPTIMIZED_FOR_SIZE "none")
  set(RETRACE_LIGHT_HEADER_LEVEL -O0)
endif()
set(RETRACE_LIGHT_HEADER "")
if(RETRACE_PRECOMPILED_HEADERS AND RETRACE_UNITY AND NOT CMAKE_CONFIGURATION_TYPES)
  set(RETRACE_LIGHT_HEADER "${PROJECT_BINARY_DIR}/light_header/headers.h")
endif()
# What batches for size, and their header, do without: a seventh of their time, for code that is 0.8 % larger. Each of their functions is a
# section of its own: the command leaves out those that it never calls.
set(RETRACE_LIGHT_FLAGS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND RETRACE_LIGHT_HEADER_LEVEL STREQUAL "-Os")
  set(RETRACE_LIGHT_FLAGS -fno-tree-pta -fno-schedule-insns2 -fno-ipa-cp -fno-ipa-icf -fno-thread-jumps -fno-tree-vrp -fno-tree-dominator-opts -ffunction-sections)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(RETRACE_LIGHT_HEADER_COMPILED "${RETRACE_LIGHT_HEADER}.gch")
  set(RETRACE_LIGHT_HEADER_FLAGS "")
else()
  set(RETRACE_LIGHT_HEADER_COMPILED "${RETRACE_LIGHT_HEADER}.pch")
  set(RETRACE_LIGHT_HEADER_FLAGS -fpch-instantiate-templates)
endif()

# A precompiled header is for one level of optimization, and CMake makes one for a target: this is the other. The compiler finds it
# beside the header that batches with that level include first.
function(retrace_precompile_light_header target)
  if(NOT RETRACE_LIGHT_HEADER)
    return()
  endif()
  set(includes "")
  foreach(header IN LISTS ARGN)
    if(NOT header MATCHES "^<")
      set(header "\"${header}\"")
    endif()
    string(APPEND includes "#include ${header}\n")
  endforeach()
  retrace_write_if_different("${RETRACE_LIGHT_HEADER}" "// Generated by cmake/unity.cmake.\n#pragma once\n${includes}")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  # The compiler's own folders only where it has them: #include_next looks behind them.
  list(JOIN CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES "|" own)
  string(REPLACE "+" "[+]" own "${own}")
  set(folders "$<FILTER:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,EXCLUDE,^(${own})$>")
  set(compiler "${CMAKE_CXX_COMPILER}")
  set(options "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>,EXCLUDE,^SHELL:>")  # the compiler's own memory
  if(CMAKE_CXX_COMPILER_TARGET)
    list(APPEND compiler "${CMAKE_CXX_COMPILE_OPTIONS_TARGET}${CMAKE_CXX_COMPILER_TARGET}")
  endif()
  add_custom_command(OUTPUT "${RETRACE_LIGHT_HEADER_COMPILED}"
    COMMAND ${compiler} "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
            ${flags} -fPIC ${options} ${RETRACE_LIGHT_HEADER_LEVEL} ${RETRACE_LIGHT_FLAGS} -std=c++20 -w
            ${RETRACE_LIGHT_HEADER_FLAGS}
            -MD -MF "${RETRACE_LIGHT_HEADER_COMPILED}.d" -MT "${RETRACE_LIGHT_HEADER_COMPILED}"
            -x c++-header -c "${RETRACE_LIGHT_HEADER}" -o "${RETRACE_LIGHT_HEADER_COMPILED}"
    DEPENDS "${RETRACE_LIGHT_HEADER}" DEPFILE "${RETRACE_LIGHT_HEADER_COMPILED}.d"
    COMMENT "Precompiling the header of folders with ${RETRACE_LIGHT_HEADER_LEVEL}" VERBATIM COMMAND_EXPAND_LISTS)
  target_sources(${target} PRIVATE "${RETRACE_LIGHT_HEADER_COMPILED}")
endfunction()

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
    if(folder STREQUAL "data" AND stem IN_LIST RETRACE_DATA_LOOPS OR folder STREQUAL "data/transforms" AND NOT stem MATCHES "_test$")
      set(folder data_loops)
    elseif(stem MATCHES "_test$")
      set(letters ".")
    endif()
    if(folder MATCHES "^ops/(.*)")
      set(stem "${CMAKE_MATCH_1}")
      set(folder ops_each)
      set(letters ${RETRACE_UNITY_OP_LETTERS})
      if(source MATCHES "_cuda\\.cpp$" OR stem IN_LIST RETRACE_OPS_RECORDED_SELDOM)
        file(STRINGS "${source}" kernels REGEX "KernelCall")
        if(NOT kernels)
          set(folder ops_small)
          set(letters ${RETRACE_UNITY_SMALL_OP_LETTERS})
        endif()
      endif()
    endif()
    if(folder IN_LIST RETRACE_UNITY_SMALL)
      set(letters ".")
    elseif(folder MATCHES "^(data|ops)$" AND stem MATCHES "_test$")
      set(letters ${RETRACE_UNITY_TEST_LETTERS})
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
          list(APPEND options -Os ${RETRACE_LIGHT_FLAGS})
        elseif(folder MATCHES "^(${RETRACE_LIGHTLY_OPTIMIZED})(/|$)")
          list(APPEND options ${RETRACE_LIGHT_OPTIMIZATION})
        endif()
        if(RETRACE_FUZZERS AND folder MATCHES "^(${RETRACE_FUZZED})(/|_|$)" AND NOT stem MATCHES "_test$")
          list(APPEND options -fsanitize-coverage=inline-8bit-counters,pc-table,indirect-calls,trace-cmp)
        endif()
        set(united "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${name}_${batch}_cxx.cxx")
        if(options MATCHES "-O[0s]")
          set_property(TARGET ${target} APPEND PROPERTY RETRACE_SMALL_BATCHES "unity_${name}_${batch}_cxx.cxx${CMAKE_CXX_OUTPUT_EXTENSION}")
          # the precompiled header of the target is for another level
          set_property(SOURCE "${united}" PROPERTY SKIP_PRECOMPILE_HEADERS ON)
          if(RETRACE_LIGHT_HEADER)
            list(APPEND options -Winvalid-pch -include "${RETRACE_LIGHT_HEADER}")
            set_property(SOURCE "${united}" PROPERTY OBJECT_DEPENDS "${RETRACE_LIGHT_HEADER_COMPILED}")
          endif()
        endif()
        set_property(SOURCE "${united}" PROPERTY COMPILE_OPTIONS ${options})
      endif()
      math(EXPR batch "${batch} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Files of folders for size that are compiled by themselves, since they read headers that no other does.
function(retrace_alone_for_size target)
  if(NOT RETRACE_UNITY OR NOT RETRACE_LIGHT_HEADER_LEVEL STREQUAL "-Os")
    return()
  endif()
  foreach(source IN LISTS ARGN)
    cmake_path(GET source FILENAME name)
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS -Os ${RETRACE_LIGHT_FLAGS})
    set_property(TARGET ${target} APPEND PROPERTY RETRACE_SMALL_BATCHES "${name}${CMAKE_CXX_OUTPUT_EXTENSION}")
  endforeach()
endfunction()

# Moves batches that are optimized for size to the end of the library `target`. Of a function that several members hold, as
# those of std::vector<Tensor>, a linker takes the first: recording took 1.03 of its time, and planning too, by the small ones.
function(retrace_put_small_batches_last target)
  get_target_property(type ${target} TYPE)
  get_target_property(members ${target} RETRACE_SMALL_BATCHES)
  if(members AND type STREQUAL STATIC_LIBRARY AND NOT CMAKE_CONFIGURATION_TYPES)
    list(REMOVE_DUPLICATES members)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND "${CMAKE_AR}" m "$<TARGET_FILE:${target}>" ${members} VERBATIM)
  endif()
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
