# CUDA. The library needs nothing of it to build: it opens the driver and NVRTC when it runs. Headers that kernels made
# at run time include are embedded as text; where nvcc is found, the kernels of *.cu files are embedded as fat binaries.
#   generated/cuda/kernel_headers.cpp   packed_kernel_headers() and arithmetic_flags() of retrace/device/cuda/embedded.h
#   generated/cuda/kernel_images.cpp    kernel_images()
#   target retrace_pack                 a program that makes images and headers smaller (cmake/pack.cpp)
#   target cuda_kernels                 the fat binaries
#   target cuda_rules                   the scalar rules, host and device side, so that a rule that only the host can
#                                       compile is found

# Each takes about 20 seconds of compiling and two megabytes of the library. Devices newer than the last one compile its PTX
# when they are first used.
set(RETRACE_CUDA_ARCHITECTURES "80;90" CACHE STRING "Compute capabilities that get machine code, ascending (80;90;100)")

set(RETRACE_NVCC "")
set(RETRACE_FATBINARY "")
if(RETRACE_CUDA)
  find_program(nvcc nvcc HINTS "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
  set(nvcc_version 0)
  if(nvcc)
    execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE nvcc_text)
    if(nvcc_text MATCHES "release ([0-9.]+)")
      set(nvcc_version "${CMAKE_MATCH_1}")
    endif()
  endif()
  if(nvcc_version VERSION_GREATER_EQUAL 12.0)
    # The host compiler only preprocesses kernels, so that any will do.
    set(RETRACE_NVCC "${nvcc}" ${RETRACE_NVCC_FLAGS} -std=c++20 -allow-unsupported-compiler
        "-I${PROJECT_SOURCE_DIR}" "-I${RETRACE_GENERATED_DIR}")
    if(RETRACE_WARNINGS_AS_ERRORS)
      list(APPEND RETRACE_NVCC --Werror=all-warnings)
    endif()
    list(GET RETRACE_CUDA_ARCHITECTURES -1 newest)
    set(RETRACE_NVCC_CODE "")
    foreach(architecture IN LISTS RETRACE_CUDA_ARCHITECTURES)
      list(APPEND RETRACE_NVCC_CODE "-gencode=arch=compute_${architecture},code=sm_${architecture}")
    endforeach()
    list(APPEND RETRACE_NVCC_CODE "-gencode=arch=compute_${newest},code=compute_${newest}")
    # A tool of the toolkit, beside nvcc.
    file(REAL_PATH "${nvcc}" nvcc_file)
    cmake_path(GET nvcc_file PARENT_PATH nvcc_folder)
    find_program(fatbinary fatbinary HINTS "${nvcc_folder}" "$ENV{CUDA_HOME}/bin" /usr/local/cuda/bin)
    if(fatbinary AND RETRACE_CUDA_ARCHITECTURES STREQUAL "80;90")
      set(RETRACE_FATBINARY "${fatbinary}")
    endif()
  elseif(RETRACE_CUDA STREQUAL "AUTO")
    message(STATUS "No nvcc of CUDA 12.0 or newer found: the library is built without CUDA kernels")
  else()
    message(FATAL_ERROR "RETRACE_CUDA=${RETRACE_CUDA}, but no nvcc of CUDA 12.0 or newer is in PATH, in CUDA_HOME/bin or "
                        "in /usr/local/cuda/bin")
  endif()
endif()

# LZMA makes images and headers smaller; what is built for another machine does without.
set(RETRACE_PACK "")
if(NOT CMAKE_CROSSCOMPILING)
  add_executable(retrace_pack EXCLUDE_FROM_ALL
    "${PROJECT_SOURCE_DIR}/cmake/pack.cpp" "${PROJECT_SOURCE_DIR}/retrace/device/cuda/packed.cpp"
    "${PROJECT_SOURCE_DIR}/retrace/device/cuda/machine_code.cpp")
  target_include_directories(retrace_pack PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(retrace_pack PRIVATE LibLZMA::LibLZMA)
  target_compile_options(retrace_pack PRIVATE -O2)
  set_target_properties(retrace_pack PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/cuda" CXX_STANDARD 20)
  set(RETRACE_PACK retrace_pack)
endif()

# Sets `text` to C++ that embeds `file` between the symbols LABEL and LABEL_end.
function(retrace_embed text label file)
  string(CONCAT joined
    "asm(R\"(.section .rodata\n.global ${label}\n.hidden ${label}\n${label}: .incbin \"${file}\"\n"
    ".global ${label}_end\n.hidden ${label}_end\n${label}_end: .byte 0\n.previous)\");\n"
    "extern \"C\" const std::byte ${label}[], ${label}_end[];\n")
  set(${text} "${joined}" PARENT_SCOPE)
endfunction()

# Compiles `source` with nvcc to `output`; further arguments are flags.
function(retrace_nvcc source output)
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  cmake_path(RELATIVE_PATH output BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE shown)
  add_custom_command(OUTPUT "${output}" DEPFILE "${output}.d" DEPENDS "${source}" VERBATIM COMMENT "nvcc ${shown}"
    COMMAND ${RETRACE_NVCC} ${RETRACE_NVCC_CODE} ${ARGN} -MD -MF "${output}.d" -o "${output}" "${source}")
endfunction()

# Compiles the kernels of `source` to the fat binary `image`: machine code for each architecture, and PTX of the newest (LZMA makes
# it smaller than nvcc's own compression does). nvcc's front end, half of the time, runs once: PTX for 80 is that for 90 without
# griddepcontrol, which kernels for 90 alone have (kernel_device.h), and ptxas refuses whatever else 80 lacks.
function(retrace_nvcc_image source image)
  if(NOT RETRACE_FATBINARY)
    retrace_nvcc("${source}" "${image}" --fatbin --no-compress)
    return()
  endif()
  cmake_path(GET image PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  cmake_path(RELATIVE_PATH image BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE shown)
  add_custom_command(OUTPUT "${image}" DEPFILE "${image}.d" DEPENDS "${source}" VERBATIM COMMENT "nvcc ${shown}"
    COMMAND ${RETRACE_NVCC} --ptx -arch=compute_90 -MD -MF "${image}.d" -MT "${image}" -o "${image}.90.ptx" "${source}"
    COMMAND sed -e "/griddepcontrol/d" -e "s/^.target sm_90$/.target sm_80/" "${image}.90.ptx" > "${image}.80.ptx"
    COMMAND ${RETRACE_NVCC} --cubin -arch=sm_80 -o "${image}.80.cubin" "${image}.80.ptx"
    COMMAND ${RETRACE_NVCC} --cubin -arch=sm_90 -o "${image}.90.cubin" "${image}.90.ptx"
    COMMAND "${RETRACE_FATBINARY}" "--create=${image}" -64 "--cmdline= --fmad false " -compress=false
            "--image3=kind=elf,sm=80,file=${image}.80.cubin" "--image3=kind=ptx,sm=90,file=${image}.90.ptx"
            "--image3=kind=elf,sm=90,file=${image}.90.cubin"
    COMMAND "${CMAKE_COMMAND}" -E rm "${image}.80.ptx" "${image}.80.cubin" "${image}.90.ptx" "${image}.90.cubin")
endfunction()

# Images that are packed together: what a large one of ops/matmul and ops/conv2d has in the mode fast, and all others.
function(retrace_image_group group path)
  if(path MATCHES "ops/(matmul|conv2d)/(.*)\\.cu$")
    string(REGEX REPLACE "_fast$" "" name "${CMAKE_MATCH_2}")
    set(${group} "${name}" PARENT_SCOPE)
  else()
    set(${group} others PARENT_SCOPE)
  endif()
endfunction()

# Gives `target` a function retrace::cuda::NAME() that lists the kernels of the .cu files that follow; without nvcc the
# list is empty.
function(retrace_add_kernel_images target name)
  set(labels "")
  set(rows "")
  set(images "")
  set(groups "")
  if(RETRACE_NVCC)
    foreach(source IN LISTS ARGN)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
      retrace_image_group(group "${path}")
      list(APPEND groups ${group})
      list(LENGTH images_of_${group} before)
      set(label "${name}_${group}")
      set(image "${PROJECT_BINARY_DIR}/cuda/${name}/${path}.fatbin")
      retrace_nvcc_image("${source}" "${image}")
      list(APPEND images_of_${group} "${image}")
      set(names "${PROJECT_BINARY_DIR}/cuda/${name}/${path}.names")
      add_custom_command(OUTPUT "${names}" DEPENDS "${image}" "${PROJECT_SOURCE_DIR}/cmake/kernel_names.cmake" VERBATIM
        COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DSOURCE=${source}" "-DOUTPUT=${names}"
                "-DINCLUDES=-I${PROJECT_SOURCE_DIR};-I${RETRACE_GENERATED_DIR}"
                -P "${PROJECT_SOURCE_DIR}/cmake/kernel_names.cmake")
      list(APPEND images "${names}")
      string(APPEND rows "    {\"${path}\", ${label}, ${label}_end,\n#include \"${names}\"\n     , ${before}},\n")
    endforeach()
    list(REMOVE_DUPLICATES groups)
    foreach(group IN LISTS groups)
      set(packed "${PROJECT_BINARY_DIR}/cuda/${name}/${group}.packed")
      add_custom_command(OUTPUT "${packed}" DEPENDS ${images_of_${group}} retrace_pack VERBATIM
        COMMAND retrace_pack "${packed}" ${images_of_${group}})
      list(APPEND images "${packed}")
      retrace_embed(embedded ${name}_${group} "${packed}")
      string(APPEND labels "${embedded}")
    endforeach()
  endif()
  set(file "${RETRACE_GENERATED_DIR}/cuda/${name}.cpp")
  set(body "  return {};\n")
  if(rows)
    set(body "  static const KernelImage images[] = {\n${rows}  };\n  return images;\n")
  endif()
  retrace_write_if_different("${file}" "// Generated by cmake/cuda.cmake.\n#include \"retrace/device/cuda/embedded.h\"\n
${labels}\nnamespace retrace::cuda {\n\nstd::span<const KernelImage> ${name}();\nstd::span<const KernelImage> ${name}() {\n${body}}\n
}  // namespace retrace::cuda\n")
  set_property(SOURCE "${file}" APPEND PROPERTY OBJECT_DEPENDS "${images}")
  target_sources(${target} PRIVATE "${file}")
  set(images_of_${name} "${images}" PARENT_SCOPE)
endfunction()

# The headers that kernels made at run time may include.
file(GLOB kernel_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/retrace/base/convert.h" "${PROJECT_SOURCE_DIR}/retrace/base/elementary*.h"
     "${PROJECT_SOURCE_DIR}/retrace/base/philox_core.h"
     "${PROJECT_SOURCE_DIR}/retrace/base/scalar.h" "${PROJECT_SOURCE_DIR}/retrace/device/cuda/fast_divide.h"
     "${PROJECT_SOURCE_DIR}/retrace/device/cuda/last_block.h"
     "${PROJECT_SOURCE_DIR}/retrace/device/cuda/global.h"
     "${PROJECT_SOURCE_DIR}/retrace/device/cuda/kernel*.h" "${PROJECT_SOURCE_DIR}/retrace/ops/*/*_rule.h"
     "${PROJECT_SOURCE_DIR}/retrace/ops/moments/moments_cuda.h" "${PROJECT_SOURCE_DIR}/retrace/ops/reduce/reduce_cuda*.h"
     "${PROJECT_SOURCE_DIR}/retrace/ops/reduce/tile_sum_*.h"
     "${PROJECT_SOURCE_DIR}/retrace/ops/contraction_*.h" "${PROJECT_SOURCE_DIR}/retrace/ops/matmul/matmul_*cuda.h"
     "${PROJECT_SOURCE_DIR}/retrace/ops/conv2d/conv2d_gather*_cuda.h" "${PROJECT_SOURCE_DIR}/retrace/ops/conv2d/conv2d_cuda.h"
     "${PROJECT_SOURCE_DIR}/retrace/ops/*/*_element_cuda.h" "${PROJECT_SOURCE_DIR}/retrace/ops/pool/pooling_window.h"
     "${PROJECT_SOURCE_DIR}/retrace/ops/line_cuda.h" "${PROJECT_SOURCE_DIR}/retrace/ops/*/*_line_cuda.h"
     "${PROJECT_SOURCE_DIR}/retrace/plan/cuda/line_chain_*.h" "${PROJECT_SOURCE_DIR}/retrace/plan/cuda/row_chain_*.h")
list(FILTER kernel_headers EXCLUDE REGEX "kernel_(cache|host)\\.h$")  # for the host only
list(TRANSFORM kernel_headers PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE kernel_header_files)
set(headers "${PROJECT_BINARY_DIR}/cuda/kernel_headers")
set(header_script "${PROJECT_SOURCE_DIR}/cmake/embed_headers.cmake")
if(RETRACE_PACK)
  add_custom_command(OUTPUT "${headers}.packed" VERBATIM COMMENT "Packing the headers of CUDA kernels"
    DEPENDS ${kernel_header_files} "${header_script}" retrace_pack
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DHEADERS=${kernel_headers}" "-DOUTPUT=${headers}" -P "${header_script}"
    COMMAND retrace_pack "${headers}.packed" "${headers}")
else()
  add_custom_command(OUTPUT "${headers}.packed" VERBATIM COMMENT "Writing the headers of CUDA kernels"
    DEPENDS ${kernel_header_files} "${header_script}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DHEADERS=${kernel_headers}" "-DOUTPUT=${headers}.packed" -DAS_IT_IS=ON
            -P "${header_script}")
endif()
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/cuda")
retrace_embed(embedded retrace_kernel_headers "${headers}.packed")
list(JOIN RETRACE_NVCC_FLAGS "\", \"" flags)
set(file "${RETRACE_GENERATED_DIR}/cuda/kernel_headers.cpp")
retrace_write_if_different("${file}" "// Generated by cmake/cuda.cmake.
#include \"retrace/device/cuda/embedded.h\"

${embedded}
namespace retrace::cuda {

std::span<const std::byte> packed_kernel_headers() { return {retrace_kernel_headers, retrace_kernel_headers_end}; }

std::span<const char* const> arithmetic_flags() {
  static const char* const flags[] = {\"${flags}\"};
  return flags;
}

}  // namespace retrace::cuda
")
set_property(SOURCE "${file}" APPEND PROPERTY OBJECT_DEPENDS "${headers}.packed")
target_sources(retrace_lib PRIVATE "${file}")

file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/*.cu")
list(FILTER kernel_sources EXCLUDE REGEX "_test\\.cu$")
retrace_add_kernel_images(retrace_lib kernel_images ${kernel_sources})

if(RETRACE_NVCC)
  add_custom_target(cuda_kernels DEPENDS ${images_of_kernel_images})
  retrace_generate_from_rules("${PROJECT_SOURCE_DIR}/cmake/rule_kernel.cu.in" ".cu" rule_sources)
  # Several rules a file: nvcc reads its own headers for host and devices, a second of processor, for each.
  set(rule_objects "")
  list(LENGTH rule_sources left)
  set(file 0)
  while(left GREATER 0)
    math(EXPR file "${file} + 1")
    list(SUBLIST rule_sources 0 ${RETRACE_RULES_A_FILE} some)
    list(REMOVE_ITEM rule_sources ${some})
    list(LENGTH rule_sources left)
    list(TRANSFORM some REPLACE "^${RETRACE_GENERATED_DIR}/(.*)$" "#include \"\\1\"\n")
    list(JOIN some "" includes)
    set(source "${RETRACE_GENERATED_DIR}/rules/rules${file}.cu")
    retrace_write_if_different("${source}" "// Generated by cmake/cuda.cmake.\n${includes}")
    set(object "${PROJECT_BINARY_DIR}/cuda/rules/rules${file}.o")
    retrace_nvcc("${source}" "${object}" -c -Xcompiler=-ffp-contract=off,-Wall,-Wextra,-Wno-psabi)
    list(APPEND rule_objects "${object}")
  endwhile()
  add_custom_target(cuda_rules DEPENDS ${rule_objects})
endif()
