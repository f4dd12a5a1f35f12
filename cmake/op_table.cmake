# The tables of what is found by its place.
# The op table, from the listing of retrace/ops: adding an op means adding a folder, and no other file changes.
#   generated/retrace/ops/op_table.cpp   op_folders(): define_FOLDER(OpTable&) of each folder that holds FOLDER.cpp, in
#                                        sorted order
#   generated/rules/rulesN_cpu.cpp       the vector loops of scalar rules NAME_rule.h, several rules a file
#   generated/rules/references.cpp       the same rules in double precision
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
  set(entries "")
  foreach(folder IN LISTS folders)
    cmake_path(GET folder FILENAME name)
    if("${folder}/${name}.cpp" IN_LIST op_files)
      string(APPEND declarations "void define_${name}(OpTable& table);\n")
      string(APPEND entries "    {\"${name}\", define_${name}},\n")
    endif()
  endforeach()

  if(NOT entries OR NOT EXISTS "${PROJECT_SOURCE_DIR}/retrace/ops/op.h")
    return()
  endif()
  set(table "${RETRACE_GENERATED_DIR}/retrace/ops/op_table.cpp")
  retrace_write_if_different("${table}" "// Generated from the listing of retrace/ops.\n#include \"retrace/ops/op_folders.h\"\n
namespace retrace {\n\n${declarations}\nstd::span<const OpFolder> op_folders() {\n  static constexpr OpFolder kFolders[] = {\n${entries}  };\n  return kFolders;\n}\n\n}  // namespace retrace\n")
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

# Scalar rules a file: reading Highway for each instruction set takes a second of processor, a rule up to three.
set(RETRACE_RULES_A_FILE 16)

function(retrace_generate_rule_kernels)
  file(GLOB rules CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/retrace/ops/*/*_rule.h")
  list(SORT rules)
  set(all_headers "")
  set(references "")
  list(LENGTH rules left)
  set(file 0)
  while(left GREATER 0)
    math(EXPR file "${file} + 1")
    set(name "rules/rules${file}_cpu.cpp")
    set(headers "")
    set(loops "")
    set(exports "")
    list(SUBLIST rules 0 ${RETRACE_RULES_A_FILE} some)
    foreach(header IN LISTS some)
      cmake_path(GET header FILENAME rule)
      string(REGEX REPLACE "_rule\\.h$" "" rule "${rule}")
      string(APPEND headers "#include \"${header}\"\n")
      string(APPEND loops "RT_RULE_LOOP(${rule})\n")
      string(APPEND exports "RT_EXPORT_RULE(${rule}, \"${header}\")\n")
      string(APPEND references "RT_RULE_REFERENCE(${rule})\n")
    endforeach()
    retrace_write_if_different("${RETRACE_GENERATED_DIR}/${name}" "// Generated from the listing of retrace/ops.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE \"${name}\"
#include \"retrace/device/cpu/targets.h\"
#include \"retrace/device/cpu/simd.h\"
${headers}#include \"retrace/ops/pointwise_loop.h\"
#include \"retrace/ops/rule_kernels.h\"
#include \"retrace/trace/op.h\"\n
RT_TARGET_BEGIN\n\n${loops}\nRT_TARGET_END\n
#if HWY_ONCE\nnamespace retrace {\n\n${exports}\n}  // namespace retrace\n#endif\n")
    list(APPEND RETRACE_GENERATED_SOURCES "${RETRACE_GENERATED_DIR}/${name}")
    string(APPEND all_headers "${headers}")
    list(REMOVE_ITEM rules ${some})
    list(LENGTH rules left)
  endwhile()
  set(name "${RETRACE_GENERATED_DIR}/rules/references.cpp")
  retrace_write_if_different("${name}" "// Generated from the listing of retrace/ops.
${all_headers}#include \"retrace/ops/rule_reference.h\"\n
namespace retrace {\n\n${references}\n}  // namespace retrace\n")
  list(APPEND RETRACE_GENERATED_SOURCES "${name}")
  set(RETRACE_GENERATED_SOURCES "${RETRACE_GENERATED_SOURCES}" PARENT_SCOPE)
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
retrace_generate_rule_kernels()
