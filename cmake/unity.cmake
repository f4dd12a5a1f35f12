# Unity batches: files of one folder are compiled some at a time, so that what they share is read and instantiated once. Which
# files are together follows from the folder and the first letter of a name alone: a new file can clash with those of its own
# batch, in names of their unnamed namespaces, and with no others. Ops are together by the first letter of their folder. What
# many of them have in their unnamed namespaces has the name of its file in its name (`infer_softmax`, `update_sgdm`); a clash is
# an error of the compiler. Generated tables are one batch. The preset `clang` compiles each file by itself.

option(RETRACE_UNITY "Compile files of one folder together (OFF compiles each by itself)" ON)
set(RETRACE_UNITY_LARGE train data ops)  # folders of many files: small ones have two batches
set(RETRACE_UNITY_LARGE_LETTERS "[a-c]" "[d-h]" "[ij]" "[k-m]" "[no]" "[pq]" "r" "s" "[t-z]")
set(RETRACE_UNITY_LETTERS "[a-m]" "[n-z]")
set(RETRACE_UNITY_OP_LETTERS "[ab]" "c" "[d-h]" "[i-l]" "m" "[n-r]" "s" "[t-z]")  # a batch takes some seconds, and is tested within 15

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
    if(folder IN_LIST RETRACE_UNITY_LARGE)
      set(letters ${RETRACE_UNITY_LARGE_LETTERS})
    endif()
    set(batch 0)
    foreach(range IN LISTS letters)
      if(stem MATCHES "^${range}")
        string(REPLACE "/" "_" name "${folder}")
        set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${name}_${batch}")
      endif()
      math(EXPR batch "${batch} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
