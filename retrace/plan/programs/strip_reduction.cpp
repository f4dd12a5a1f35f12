#include "retrace/plan/programs/strip_reduction.h"

#include <algorithm>
#include <bit>

#include "retrace/plan/programs/row_kernels.h"
#include "retrace/plan/tuning.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

using namespace tuning;
using row_chain::kStrip;

}  // namespace

Trace without_reductions(const Body& body) {
  Trace tiles = body.trace;
  for (int i = 0; i < body.reductions; ++i) {
    tiles.outputs.resize(tiles.outputs.size() - static_cast<size_t>(tiles.nodes.back().output_count));
    tiles.nodes.pop_back();
  }
  ValueMap<bool> read(tiles);
  for (const auto& node : tiles.nodes)
    for (ValueId id : node.inputs) read[id] = true;
  for (ValueId id : tiles.outputs) read[id] = true;
  while (tiles.inputs.size() > 1 && !read[tiles.inputs.back()]) tiles.inputs.pop_back();
  return tiles;
}

const TensorSpec& StripReduction::source(const Trace& trace, const Node& node) {
  if (node.body) return node.body->trace.spec(node.body->trace.outputs[0]);
  return trace.spec(node.inputs[0]);
}

std::string_view StripReduction::refusal(const Trace& trace, const Node& node, int64_t least) {
  const TensorSpec& spec = source(trace, node);
  if (!node.op->column_kernels || spec.type != DType::f32) return "it is not a sum over positions";
  const ReduceShape shape(spec.shape, node.attributes.list("axes"));
  if (!shape.by_column || shape.outer != 1 || !shape.contiguous()) return "it is not a sum over all positions";
  if (shape.channels > kMostChannels) return "there are too many channels";
  return spec.count() < least ? "it is small" : "";
}

StripReduction::StripReduction(const Trace& trace, const Node& node)
    : kernels_(node.op->column_kernels()), outputs_(node.output_count) {
  const ReduceShape shape(source(trace, node).shape, node.attributes.list("axes"));
  positions_ = shape.positions, channels_ = shape.channels;
  strips_ = (positions_ + kStrip - 1) / kStrip;
  slot_ = kernels_->slot_size(channels_);
  most_level_ = kMostStripLevel;
  if (!node.body) return;
  program_ = std::make_unique<TileProgram>(node.body->trace);
  most_level_ = std::bit_width(static_cast<uint64_t>(kReadElements / (kStrip * channels_))) - 1;
}

float* StripReduction::slots(void* workspace) const {
  return reinterpret_cast<float*>(static_cast<char*>(workspace) + (strips_ + 63) / 64 * 64);
}

size_t StripReduction::workspace_bytes() const {
  const int64_t floats = strips_ * slot_ + (program_ ? static_cast<int64_t>(program_->pattern_bytes() / 4) : 0);
  return static_cast<size_t>((strips_ + 63) / 64 * 64 + floats * 4);
}

void StripReduction::prepare(const void* const* inputs, void* workspace) const {
  std::fill_n(levels(workspace), strips_, int8_t{-1});
  if (program_) program_->prepare(inputs, patterns(workspace));
}

void StripReduction::add(int64_t begin, int64_t end, const void* const* inputs, void* workspace) const {
  const int64_t size = kStrip * channels_, whole = positions_ / kStrip;
  const int64_t last = end / size;
  int64_t strip = (begin + size - 1) / size;
  while (strip < last) {
    const int room = std::bit_width(static_cast<uint64_t>(last - strip)) - 1;
    const int level = std::min({std::countr_zero(static_cast<uint64_t>(strip)), room, most_level_});
    reduce(strip, level, inputs, workspace);
    strip += int64_t{1} << level;
  }
  if (strip == whole && whole < strips_ && end == positions_ * channels_) reduce(strip, 0, inputs, workspace);
}

void StripReduction::reduce(int64_t strip, int level, const void* const* inputs, void* workspace) const {
  const int64_t first = strip * kStrip, count = std::min(kStrip << level, positions_ - first);
  const float* x = nullptr;
  if (program_) {
    thread_local std::vector<float> buffer(kReadElements);
    x = buffer.data();
    void* base = buffer.data() - first * channels_;  // element i of the whole array is written at base plus i
    program_->run(first * channels_, (first + count) * channels_, inputs, &base, patterns(workspace));
  } else {
    x = static_cast<const float*>(inputs[0]) + first * channels_;
  }
  kernels_->run(x, x + count * channels_, count, channels_, channels_, slots(workspace) + strip * slot_);
  levels(workspace)[strip] = static_cast<int8_t>(level);
}

void StripReduction::finish(const void* const* inputs, void* const* outputs, void* workspace) const {
  const int8_t* const made = levels(workspace);
  for (int64_t strip = 0; strip < strips_; strip += int64_t{1} << made[strip])
    if (made[strip] < 0) reduce(strip, 0, inputs, workspace);
  float* out[2] = {};
  for (int i = 0; i < outputs_; ++i) out[i] = static_cast<float*>(outputs[i]);
  kernels_->combine_subtrees(slots(workspace), slot_, made, positions_, channels_, out);
}

}  // namespace retrace
