# Unity batches: files of one folder are compiled a few at a time, so that what they share is read and instantiated once. Which
# files are together follows from the folder and the first letter of a name alone: a new file can clash with those of its own
# batch, in names of their unnamed namespaces, and with no others. The files of an op are one batch. Folders whose files are
# found by their place (the kinds of things) are left out, but for their tests: each says `describe` or `gradient` of its own. Layers,
# which have names of their own, are together: reading what they share takes longer than compiling them. The preset `clang`
# compiles each file by itself.

option(RETRACE_UNITY "Compile files of one folder together (OFF compiles each by itself)" ON)
set(RETRACE_UNITY_LARGE train data ops)  # folders of many files: small ones have two batches
set(RETRACE_UNITY_LARGE_LETTERS "[a-c]" "[d-h]" "[ij]" "[k-m]" "[no]" "[pq]" "r" "s" "[t-z]")
set(RETRACE_UNITY_LETTERS "[a-m]" "[n-z]")

# Marks what may be united of the sources of `target` that follow; all tests of a target are one folder.
function(retrace_unite target)
  if(NOT RETRACE_UNITY)
    return()
  endif()
  get_property(kind_folders GLOBAL PROPERTY RETRACE_KIND_FOLDERS)
  list(REMOVE_ITEM kind_folders nn/layers)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM stem)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/retrace" OUTPUT_VARIABLE relative)
    cmake_path(GET relative PARENT_PATH folder)
    if(folder MATCHES "^\\.\\.")
      continue()
    elseif(stem MATCHES "_test$")
      string(REGEX REPLACE "/.*" "" folder "${folder}")
    elseif(stem MATCHES "_cpu$" OR folder IN_LIST kind_folders)
      continue()
    endif()
    set(letters ${RETRACE_UNITY_LETTERS})
    if(folder MATCHES "^ops/")
      set(letters ".")
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
