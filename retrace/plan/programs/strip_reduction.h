#pragma once
// A reduction over all axes but the last, taken while its input is being made: of each range of elements that is final
// the whole strips of 16 positions are reduced while they are in the cache, as aligned subtrees of the column rule of
// docs/numerics.md. Strips that lie across two ranges and the tree over all come last. The bits are those of the op.

#include <memory>

#include "retrace/ops/reduce/reduction.h"
#include "retrace/plan/programs/tile_program.h"

namespace retrace {

// The trace of a body without its reductions, their outputs, and the inputs that only they read.
Trace without_reductions(const Body& body);

class StripReduction {
 public:
  // Why `node` of `trace` cannot be computed in this way, or is not worth it with fewer than `least` elements; "" if it
  // is.
  static std::string_view refusal(const Trace& trace, const Node& node, int64_t least);
  // What `node` reduces: its input, or what its prologue makes.
  static const TensorSpec& source(const Trace& trace, const Node& node);

  StripReduction(const Trace& trace, const Node& node);
  size_t workspace_bytes() const;  // 64-byte aligned

  // One run: prepare, add for disjoint ranges of elements on any threads, finish. inputs[i] and outputs[i] are the
  // whole arrays of the node.
  void prepare(const void* const* inputs, void* workspace) const;
  void add(int64_t begin, int64_t end, const void* const* inputs, void* workspace) const;
  void finish(const void* const* inputs, void* const* outputs, void* workspace) const;

 private:
  void reduce(int64_t strip, int level, const void* const* inputs, void* workspace) const;
  int8_t* levels(void* workspace) const { return static_cast<int8_t*>(workspace); }
  float* slots(void* workspace) const;
  float* patterns(void* workspace) const { return slots(workspace) + strips_ * slot_; }

  const ReduceKernels* kernels_;
  int outputs_;
  std::unique_ptr<TileProgram> program_;  // makes the input, if it is not in memory
  int64_t positions_, channels_, strips_, slot_;
  int most_level_;
};

}  // namespace retrace
