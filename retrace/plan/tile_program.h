#pragma once
// A fused chain: each op's vector loop over a tile that stays in the first-level cache. Built from a trace of
// pointwise nodes whose outputs all have one shape; inputs broadcast to it. The values are those of the unfused ops:
// every element goes through the same rules in the same order.

#include <memory>
#include <string>
#include <vector>

#include "retrace/trace/op.h"

namespace retrace {

// Whether a node can be part of a tile program: a rule, and f32, bool or u8 values (bool or f32 results).
bool can_tile(const Trace& trace, const Node& node);

class TileProgram {
 public:
  // `alias_input`: the input whose memory may be that of an output (a contraction's raw result), or -1.
  TileProgram(const Trace& body, int alias_input);

  // Computes elements begin..end-1 of all outputs. inputs[i] and outputs[i] are the whole arrays.
  void run(int64_t begin, int64_t end, const void* const* inputs, void* const* outputs) const;

  const Shape& shape() const { return shape_; }

 private:
  // Where a tile's operand comes from: a register of the tile machine, or memory at the element's own index.
  struct Source {
    int input = -1;    // >= 0: direct pointer into this f32 input
    int scratch = -1;  // else: register
  };
  struct Load {
    int input;
    int scratch;
    DType type;
    bool scalar;
    Shape shape, strides;  // of the broadcast, merged where axes are regular
  };
  struct Step {
    TileFunction function;
    int arity;
    Source in[3];
    int scratch;      // where the result goes, or
    int output = -1;  // >= 0: straight into this f32 output
  };
  struct Store {
    Source from;
    int output;
    DType type;
  };
  struct Builder;

  void load(const Load& load, const void* from, float* to, int64_t begin, int64_t count) const;

  Shape shape_;
  std::vector<Load> loads_;
  std::vector<Step> steps_;
  std::vector<Store> stores_;
  int scratch_count_ = 0;
};

}  // namespace retrace
