// Modules, launches and graphs of the fake driver.
#include <algorithm>

#include "tests/fake_cuda/state.h"

using namespace fake_cuda;

namespace {

std::vector<std::byte> buffer_of(void** extra) {
  const std::byte* data = nullptr;
  size_t bytes = 0;
  for (; *extra != kLaunchEnd; extra += 2) {
    if (*extra == kLaunchBuffer) data = static_cast<const std::byte*>(extra[1]);
    if (*extra == kLaunchBufferSize) bytes = *static_cast<const size_t*>(extra[1]);
  }
  return {data, data + bytes};
}

int check_launch(const KernelNodeParameters& node) {
  const int shared = static_cast<int>(node.shared_bytes);
  const bool fits = shared <= 48 * 1024 || shared <= node.function->allowed_shared;
  return fits && node.blocks_x && node.threads_x * node.threads_y * node.threads_z <= 1024 ? 0 : kErrorInvalidValue;
}

fake_cuda::Launched launched(const KernelNodeParameters& node, bool in_graph) {
  return {node.function->name,
          {node.blocks_x, node.blocks_y, node.blocks_z},
          {node.threads_x, node.threads_y, node.threads_z},
          node.shared_bytes,
          buffer_of(node.extra),
          in_graph};
}

// What the device does for a launch.
void execute(const fake_cuda::Launched& launch) {
  state.executed.push_back(launch);
  state.time += 1e-6 * launch.blocks[0] * launch.blocks[1] * launch.blocks[2];
}

bool has_node(CUgraph graph, CUgraphNode node) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(), [&](const auto& one) { return one.get() == node; });
}

// A node may only follow nodes of its graph.
int add_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraphNode_st made) {
  for (size_t i = 0; i < count; ++i)
    if (!has_node(graph, dependencies[i])) return kErrorInvalidValue;
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>(std::move(made)));
  *node = graph->nodes.back().get();
  return 0;
}

}  // namespace

extern "C" {

int cuModuleLoadData(CUmodule* module, const void*) {
  FAKE_CALL_IN_CONTEXT();
  return create(state.modules, module);
}

int cuModuleUnload(CUmodule module) {
  FAKE_CALL_IN_CONTEXT();
  return destroy(state.modules, module);
}

int cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  FAKE_CALL_IN_CONTEXT();
  *function = &module->functions[name];
  (*function)->name = name;
  return 0;
}

int cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  FAKE_CALL_IN_CONTEXT();
  if (attribute != kMaxDynamicSharedBytes) return kErrorInvalidValue;
  state.allowed_shared[function->name] = function->allowed_shared = value;
  return 0;
}

int cuFuncGetAttribute(int* value, int attribute, CUfunction) {
  FAKE_CALL_IN_CONTEXT();
  if (attribute != kPtxVersion) return kErrorInvalidValue;
  *value = state.ptx_version;
  return 0;
}

int cuLaunchKernel(CUfunction function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x,
                   unsigned threads_y, unsigned threads_z, unsigned shared_bytes, CUstream stream, void** parameters,
                   void** extra) {
  FAKE_CALL_IN_CONTEXT();
  const KernelNodeParameters node{function,  blocks_x,     blocks_y,   blocks_z, threads_x, threads_y,
                                  threads_z, shared_bytes, parameters, extra,    nullptr,   nullptr};
  if (const int failure = check_launch(node)) return failure;
  stream->work.emplace_back([launch = launched(node, false)] { return execute(launch), 0; });
  return 0;
}

int cuGraphCreate(CUgraph* graph, unsigned) {
  FAKE_CALL_IN_CONTEXT();
  return create(state.graphs, graph);
}

int cuGraphDestroy(CUgraph graph) {
  FAKE_CALL_IN_CONTEXT();
  return destroy(state.graphs, graph);
}

int cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const KernelNodeParameters* parameters) {
  FAKE_CALL_IN_CONTEXT();
  if (const int failure = check_launch(*parameters)) return failure;
  return add_node(node, graph, dependencies, count, {launched(*parameters, true), count});
}

int cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              CUevent event) {
  FAKE_CALL_IN_CONTEXT();
  return add_node(node, graph, dependencies, count, {{}, count, event});
}

int cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const EdgeData* data,
                              size_t count) {
  FAKE_CALL_IN_CONTEXT();
  for (size_t i = 0; i < count; ++i) {
    if (!has_node(graph, from[i]) || !has_node(graph, to[i]) || from[i] == to[i]) return kErrorInvalidValue;
    if (data[i].type != 1 || data[i].from_port != 1 || data[i].to_port != 0) return kErrorInvalidValue;
    ++to[i]->dependencies, ++to[i]->programmatic;
  }
  return 0;
}

int cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  FAKE_CALL_IN_CONTEXT();
  create(state.executables, executable);
  auto& dependencies = state.dependencies.emplace_back();
  auto& programmatic = state.programmatic.emplace_back();
  for (const auto& node : graph->nodes) {
    (*executable)->index[node.get()] = (*executable)->nodes.size();
    (*executable)->nodes.push_back(*node);
    dependencies.push_back(node->dependencies);
    programmatic.push_back(node->programmatic);
  }
  return 0;
}

int cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                      const KernelNodeParameters* parameters) {
  FAKE_CALL_IN_CONTEXT();
  if (const int failure = check_launch(*parameters)) return failure;
  executable->nodes.at(executable->index.at(node)).launch = launched(*parameters, true);
  return 0;
}

int cuGraphExecDestroy(CUgraphExec executable) {
  FAKE_CALL_IN_CONTEXT();
  return destroy(state.executables, executable);
}

int cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  FAKE_CALL_IN_CONTEXT();
  if (!state.executables.count(executable)) return 400;
  stream->work.emplace_back([nodes = executable->nodes] {
    for (const auto& node : nodes) {
      if (node.event)
        node.event->time = state.time;
      else
        execute(node.launch);
    }
    return 0;
  });
  return 0;
}
}
