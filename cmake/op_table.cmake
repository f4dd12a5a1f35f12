# The tables of what is found by its place.
# The op table, from the listing of retrace/ops: adding an op means adding a folder, and no other file changes.
#   generated/retrace/ops/op_table.cpp   define_all_ops(OpTable&), which calls define_FOLDER(OpTable&) of each folder
#                                        that holds FOLDER.cpp, in sorted order
#   generated/rules/NAME_cpu.cpp         from rule_kernel.cpp.in, for each scalar rule NAME_rule.h
#   generated/rules/NAME_reference.cpp   from rule_reference.cpp.in: the same rule in double precision
# Files are rewritten only when their content changes, so that a new configure rebuilds nothing.

set(RETRACE_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
set(RETRACE_GENERATED_SOURCES "")

function(retrace_write_if_different path content)
  file(CONFIGURE OUTPUT "${path}" CONTENT "${content}" @ONLY)
endfunction()

function(retrace_generate_op_table)
  file(GLOB op_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/ops/*/*.cpp")
  set(folders "")
  foreach(file IN LISTS op_files)
    cmake_path(GET file PARENT_PATH folder)
    list(APPEND folders "${folder}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(SORT folders)

  set(declarations "")
  set(calls "")
  foreach(folder IN LISTS folders)
    cmake_path(GET folder FILENAME name)
    if("${folder}/${name}.cpp" IN_LIST op_files)
      string(APPEND declarations "void define_${name}(OpTable& table);\n")
      string(APPEND calls "  define_${name}(table);\n")
    endif()
  endforeach()

  if(NOT calls OR NOT EXISTS "${PROJECT_SOURCE_DIR}/retrace/ops/op.h")
    return()
  endif()
  set(table "${RETRACE_GENERATED_DIR}/retrace/ops/op_table.cpp")
  retrace_write_if_different("${table}" "// Generated from the listing of retrace/ops.\n#include \"retrace/ops/op.h\"\n
namespace retrace {\n\n${declarations}\nvoid define_all_ops(OpTable& table);\nvoid define_all_ops(OpTable& table) {\n${calls}}\n\n}  // namespace retrace\n")
  set(RETRACE_GENERATED_SOURCES "${table}" PARENT_SCOPE)
endfunction()

# One file a rule from `template`, as generated/rules/NAME + `ending`; their list in `sources`. The template sees
# @RULE@ (relu), @RULE_HEADER@ (retrace/ops/relu/relu_rule.h) and @RULE_FILE@ (rules/relu_cpu.cpp, the path of the
# generated file as others would include it).
function(retrace_generate_from_rules template ending sources)
  file(GLOB rules CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/retrace/ops/*/*_rule.h")
  set(generated "")
  if(EXISTS "${template}")
    foreach(RULE_HEADER IN LISTS rules)
      cmake_path(GET RULE_HEADER FILENAME RULE)
      string(REGEX REPLACE "_rule\\.h$" "" RULE "${RULE}")
      set(RULE_FILE "rules/${RULE}${ending}")
      configure_file("${template}" "${RETRACE_GENERATED_DIR}/${RULE_FILE}" @ONLY)
      list(APPEND generated "${RETRACE_GENERATED_DIR}/${RULE_FILE}")
    endforeach()
  endif()
  set(${sources} "${generated}" PARENT_SCOPE)
endfunction()

# generated/retrace/plan/step_table.cpp: define_all_steps(StepKinds&), which calls define_x_step(StepKinds&) of each
# retrace/plan/cpu/x_step.cpp, in sorted order. Adding a kind of step means adding its file.
function(retrace_generate_step_table)
  file(GLOB steps CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/plan/cpu/*_step.cpp")
  list(SORT steps)
  set(declarations "")
  set(calls "")
  foreach(file IN LISTS steps)
    cmake_path(GET file STEM name)
    string(APPEND declarations "void define_${name}(StepKinds& kinds);\n")
    string(APPEND calls "  define_${name}(kinds);\n")
  endforeach()
  set(table "${RETRACE_GENERATED_DIR}/retrace/plan/step_table.cpp")
  retrace_write_if_different("${table}" "// Generated from the listing of retrace/plan/cpu.\n#include \"retrace/plan/cpu/step.h\"\n
namespace retrace {\n\n${declarations}\nvoid define_all_steps(StepKinds& kinds) {\n${calls}}\n\n}  // namespace retrace\n")
  list(APPEND RETRACE_GENERATED_SOURCES "${table}")
  set(RETRACE_GENERATED_SOURCES "${RETRACE_GENERATED_SOURCES}" PARENT_SCOPE)
endfunction()

# generated/retrace/plan/pass_table.cpp: define_all_passes(std::vector<Pass>&), from each retrace/plan/passes/x.cpp with a
# case x.trace beside it, in sorted order. (The order in which they run is written in retrace/plan/compile.cpp.)
function(retrace_generate_pass_table)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/plan/passes/*")
  list(SORT files)
  set(declarations "")
  set(calls "")
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.cpp$" ".trace" case "${file}")
    if(NOT file MATCHES "\\.cpp$" OR NOT case IN_LIST files)
      continue()
    endif()
    cmake_path(GET file STEM name)
    string(APPEND declarations "Pass ${name}_pass();\n")
    string(APPEND calls "  passes.push_back(${name}_pass());\n")
  endforeach()
  set(table "${RETRACE_GENERATED_DIR}/retrace/plan/pass_table.cpp")
  retrace_write_if_different("${table}" "// Generated from the listing of retrace/plan/passes.\n#include \"retrace/plan/pass.h\"\n
namespace retrace {\n\n${declarations}\nvoid define_all_passes(std::vector<Pass>& passes) {\n${calls}}\n\n}  // namespace retrace\n")
  list(APPEND RETRACE_GENERATED_SOURCES "${table}")
  set(RETRACE_GENERATED_SOURCES "${RETRACE_GENERATED_SOURCES}" PARENT_SCOPE)
endfunction()

retrace_generate_op_table()
retrace_generate_pass_table()
retrace_generate_step_table()
retrace_generate_from_rules("${PROJECT_SOURCE_DIR}/cmake/rule_kernel.cpp.in" "_cpu.cpp" rule_sources)
list(APPEND RETRACE_GENERATED_SOURCES ${rule_sources})
retrace_generate_from_rules("${PROJECT_SOURCE_DIR}/cmake/rule_reference.cpp.in" "_reference.cpp" reference_sources)
list(APPEND RETRACE_GENERATED_SOURCES ${reference_sources})
