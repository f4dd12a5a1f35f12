#pragma once
// Nodes of a plan for a CUDA device that are one kernel, which is generated of their body.

#include <span>

#include "retrace/device/cuda/launches.h"
#include "retrace/plan/cuda/cuda_chain.h"
#include "retrace/trace/op.h"

namespace retrace {

// Addresses on the device: of the body's inputs and outputs, and workspace(body) bytes.
struct GeneratedCall {
  const Trace& body;
  const cuda::Kernel& kernel;
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* workspace;
  cuda::Launches& launches;
  cuda::ErrorTarget errors = {};  // where reporting_node(body) is one
};

struct GeneratedKernel {
  CudaChain (*generate)(const Trace& body);  // the same body has the same name
  int64_t (*workspace)(const Trace& body);
  void (*add)(const GeneratedCall& call);  // the launches that compute the outputs
};

// How a node is computed so; null: it is not.
const GeneratedKernel* generated_kernel(const Node& node);

}  // namespace retrace
