# Headers made of others. What users include must not grow by a file with each op or layer, so the text of all of them is one
# header:
#   generated/retrace/ops/ops.h      retrace/ops/NAME/NAME.h
#   generated/retrace/nn/layers.h    retrace/nn/layers/NAME.h
# Each text keeps its include guards (RETRACE_OPS_NAME_H, RETRACE_NN_LAYERS_NAME_H): a file may include the one header and
# single ones, in any order.

# Appends `header` to the text in the global property RETRACE_MERGED_TEXT, behind those of `headers` that it includes; what else
# it includes goes to RETRACE_MERGED_INCLUDES.
function(retrace_merge_header header headers)
  get_property(done GLOBAL PROPERTY RETRACE_MERGED)
  if(header IN_LIST done)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY RETRACE_MERGED "${header}")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${header}")
  file(READ "${PROJECT_SOURCE_DIR}/${header}" text)

  cmake_path(GET header STEM name)
  string(REGEX MATCH "^retrace/(ops|nn/layers)/" kind "${header}")
  string(TOUPPER "${CMAKE_MATCH_1}/${name}" guard)
  string(REPLACE "/" "_" guard "RETRACE_${guard}_H")
  if(NOT text MATCHES "^#ifndef ${guard}\n#define ${guard}\n.*\n#endif  // ${guard}\n$")
    message(FATAL_ERROR "${header} must stand between #ifndef ${guard}, #define ${guard} and #endif  // ${guard}: its text is also a part of another header")
  endif()

  string(REGEX MATCHALL "#include [^\n]+" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include [<\"](.*)[>\"]" "\\1" path "${include}")
    if(path IN_LIST headers)
      retrace_merge_header("${path}" "${headers}")
    else()
      # Single headers of ops are not installed.
      string(REGEX REPLACE "retrace/ops/[a-z0-9_]+/[a-z0-9_]+\\.h" "retrace/ops/ops.h" include "${include}")
      set_property(GLOBAL APPEND PROPERTY RETRACE_MERGED_INCLUDES "${include}")
    endif()
  endforeach()
  string(REGEX REPLACE "#include [^\n]+\n+" "" text "${text}")
  set_property(GLOBAL APPEND_STRING PROPERTY RETRACE_MERGED_TEXT "${text}\n")
endfunction()

# generated/`output` from `headers`.
function(retrace_merge_headers output comment headers)
  foreach(property MERGED MERGED_INCLUDES MERGED_TEXT)
    set_property(GLOBAL PROPERTY RETRACE_${property})
  endforeach()
  list(SORT headers)
  foreach(header IN LISTS headers)
    retrace_merge_header("${header}" "${headers}")
  endforeach()
  get_property(includes GLOBAL PROPERTY RETRACE_MERGED_INCLUDES)
  get_property(text GLOBAL PROPERTY RETRACE_MERGED_TEXT)
  list(REMOVE_DUPLICATES includes)
  list(SORT includes)
  list(JOIN includes "\n" includes)
  retrace_write_if_different("${RETRACE_GENERATED_DIR}/${output}" "#pragma once\n// ${comment}\n\n${includes}\n\n${text}")
endfunction()

file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/retrace/ops/*/*.h")
set(op_headers "")
foreach(header IN LISTS headers)
  if(header MATCHES "/([a-z0-9_]+)/([a-z0-9_]+)\\.h$" AND CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_2)
    list(APPEND op_headers "${header}")
  endif()
endforeach()
retrace_merge_headers(retrace/ops/ops.h "Every op. Generated from retrace/ops/NAME/NAME.h." "${op_headers}")

file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/retrace/nn/layers/*.h")
retrace_merge_headers(retrace/nn/layers.h "Every layer. Generated from retrace/nn/layers/NAME.h." "${headers}")
