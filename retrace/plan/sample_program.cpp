#include "retrace/plan/sample_program.h"

#include <algorithm>

#include "retrace/base/error.h"
#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/device/cpu/workspace.h"
#include "retrace/plan/plan.h"
#include "retrace/plan/samples.h"

namespace retrace {
namespace {

std::vector<TensorSpec> infer_chain(const InferCall&) {
  throw Error(ErrorKind::internal, 903, "a chain of samples says its outputs by its body");
}

}  // namespace

const Op& sample_chain_op() {
  static const Op op{.name = "sample_chain", .inputs = -1, .attributes = {"samples", "slab"}, .infer = infer_chain};
  return op;
}

SampleProgram::SampleProgram(const Trace& body, int64_t samples, int64_t slab) : samples_(samples), slab_(slab) {
  const auto cut = find_cut(body, samples_);
  const auto part = [&](ValueId id) {
    const TensorSpec& spec = body.values[static_cast<size_t>(id)];
    const bool sliced = cut[static_cast<size_t>(id)];
    return Part{sliced, sliced ? spec.bytes() / static_cast<size_t>(samples_) : 0, sliced ? 0 : spec.count()};
  };
  for (ValueId id : body.inputs) inputs_.push_back(part(id));
  for (ValueId id : body.outputs) outputs_.push_back(part(id));
  whole_ = std::make_unique<const Plan>(with_samples(body, samples_, slab_), Plan::AsItIs{});
  if (const int64_t rest = samples_ % slab_; rest > 0)
    rest_ = std::make_unique<const Plan>(with_samples(body, samples_, rest), Plan::AsItIs{});
}

SampleProgram::~SampleProgram() = default;

int64_t SampleProgram::workspace_bytes() const {
  Workspace space(nullptr);
  for (const Part& part : outputs_) space.take<float>(slabs() * part.floats);
  return space.bytes();
}

size_t SampleProgram::thread_bytes() const { return whole_->arena_bytes(); }

void SampleProgram::run_slab(int64_t index, const void* const* inputs, void* const* outputs,
                             float* const* partials) const {
  thread_local std::vector<const void*> from;
  thread_local std::vector<void*> to;
  from.clear(), to.clear();
  const auto first = static_cast<size_t>(index * slab_);
  for (size_t i = 0; i < inputs_.size(); ++i)
    from.push_back(static_cast<const char*>(inputs[i]) + first * inputs_[i].sample_bytes);
  for (size_t i = 0; i < outputs_.size(); ++i)
    to.push_back(outputs_[i].cut ? static_cast<void*>(static_cast<char*>(outputs[i]) + first * outputs_[i].sample_bytes)
                                 : partials[i] + index * outputs_[i].floats);
  const bool last = (index + 1) * slab_ > samples_;
  (last ? *rest_ : *whole_).run(from.data(), to.data());
}

void SampleProgram::run(const void* const* inputs, void* const* outputs, void* workspace) const {
  Workspace space(workspace);
  thread_local std::vector<float*> partials;
  partials.clear();
  for (const Part& part : outputs_) partials.push_back(space.take<float>(slabs() * part.floats));
  float* const* const sums = partials.data();
  run_pieces(slabs(), [&](int64_t slab) { run_slab(slab, inputs, outputs, sums); });
  run_pieces(static_cast<int64_t>(outputs_.size()), [&](int64_t i) {
    const int64_t floats = outputs_[static_cast<size_t>(i)].floats;
    if (floats > 0)
      contraction_kernels().tree_sum(sums[i], floats, slabs(), nullptr, static_cast<float*>(outputs[i]), floats);
  });
}

}  // namespace retrace
