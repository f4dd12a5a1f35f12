# Tables of things that are found by their place: retrace/FOLDER/NAME.cpp describes one thing as a value, and nothing
# else lists it.
#
# retrace_generate_kind_table(FOLDER header HEADER type TYPE kind KIND [namespace NAMESPACE] [sources VARIABLE])
#   writes generated/retrace/FOLDER/table.cpp and appends it to VARIABLE (RETRACE_GENERATED_SOURCES). It defines
#   `const std::vector<TYPE>& all_LAST()`, LAST being the last part of FOLDER, which calls `TYPE NAME_KIND()` of each file
#   in sorted order. HEADER declares TYPE and all_LAST.

function(retrace_generate_kind_table folder)
  cmake_parse_arguments(PARSE_ARGV 1 table "" "header;type;kind;namespace;sources" "")
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/${folder}/*.cpp")
  list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
  list(SORT files)
  set(declarations "")
  set(calls "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    string(APPEND declarations "${table_type} ${name}_${table_kind}();\n")
    string(APPEND calls "      ${name}_${table_kind}(),\n")
  endforeach()
  cmake_path(GET folder FILENAME all)
  set(namespace retrace)
  if(table_namespace)
    set(namespace "retrace::${table_namespace}")
  endif()
  set(path "${RETRACE_GENERATED_DIR}/retrace/${folder}/table.cpp")
  retrace_write_if_different("${path}" "// Generated from the listing of retrace/${folder}.
#include \"${table_header}\"

namespace ${namespace} {

${declarations}
const std::vector<${table_type}>& all_${all}() {
  static const std::vector<${table_type}> all{
${calls}  };
  return all;
}

}  // namespace ${namespace}
")
  set(sources RETRACE_GENERATED_SOURCES)
  if(table_sources)
    set(sources ${table_sources})
  endif()
  set(${sources} ${${sources}} "${path}" PARENT_SCOPE)
endfunction()

# generated/retrace/nn/models.h and models.cpp: the built-in networks as functions of retrace::models, each with the help of its file.
function(retrace_generate_models)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/retrace/nn/networks/*.cpp")
  list(FILTER files EXCLUDE REGEX "_test\\.cpp$")
  list(SORT files)
  set(functions "")
  set(bodies "")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    string(REPLACE "_" "-" text "${name}")
    file(STRINGS "${file}" help REGEX "\\.help = \"" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*\\.help = \"([^\"]*)\".*" "\\1" help "${help}")
    string(APPEND functions "
// Network \"${text}\": ${help}. Errors as nn::make_network().
nn::Network ${name}(RandomKey key, nn::NetworkOptions options = {}, Place place = Place::here());
")
    string(APPEND bodies "
nn::Network ${name}(RandomKey key, nn::NetworkOptions options, Place place) {
  options.name = \"${text}\";
  return nn::make_network(key, options, place);
}
")
  endforeach()
  retrace_write_if_different("${RETRACE_GENERATED_DIR}/retrace/nn/models.h" "#pragma once
// The built-in networks. Generated from the listing of retrace/nn/networks.

#include \"retrace/nn/networks.h\"

namespace retrace::models {
${functions}
}  // namespace retrace::models
")
  set(path "${RETRACE_GENERATED_DIR}/retrace/nn/models.cpp")
  retrace_write_if_different("${path}" "// Generated from the listing of retrace/nn/networks.
#include \"retrace/nn/models.h\"

namespace retrace::models {
${bodies}
}  // namespace retrace::models
")
  set(RETRACE_GENERATED_SOURCES ${RETRACE_GENERATED_SOURCES} "${path}" PARENT_SCOPE)
endfunction()

retrace_generate_models()
retrace_generate_kind_table(data/sources header retrace/data/source_kind.h type SourceKind kind source)
retrace_generate_kind_table(data/transforms header retrace/data/transform_kind.h type TransformKind kind transform)
retrace_generate_kind_table(experiment/pruners header retrace/experiment/pruner_kind.h type PrunerKind kind pruner)
retrace_generate_kind_table(experiment/strategies header retrace/experiment/strategy_kind.h type StrategyKind kind strategy)
retrace_generate_kind_table(monitor/sinks header retrace/monitor/sink_kind.h type SinkKind kind sink)
retrace_generate_kind_table(nn/layers header retrace/nn/layer_kind.h type LayerKind kind layer namespace nn)
retrace_generate_kind_table(nn/losses header retrace/nn/loss_kind.h type LossKind kind loss namespace nn)
retrace_generate_kind_table(nn/networks header retrace/nn/network_kind.h type NetworkKind kind network namespace nn)
retrace_generate_kind_table(optim/schedules header retrace/optim/schedule_kind.h type ScheduleKind kind schedule)
retrace_generate_kind_table(optim/solvers header retrace/optim/solver_kind.h type SolverKind kind solver)
retrace_generate_kind_table(train/metrics header retrace/train/metric_kind.h type MetricKind kind metric)
