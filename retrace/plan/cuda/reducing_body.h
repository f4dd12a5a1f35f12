#pragma once
// The body of a chain that takes reductions along (cuda_reduction.h): its parts, and the source of an item's value.

#include <algorithm>
#include <span>
#include <string>

#include "retrace/ops/reduce/reduction.h"
#include "retrace/plan/cuda/chain_text.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace.h"

namespace retrace {

inline bool is_reduction(const Node& node) { return node.op->column_kernels != nullptr; }
// Of those that are taken along: sums, or else moments.
inline bool is_sum(const Node& reduction) { return reduction.op->sum; }
// Whether an op makes each element from wherever it likes.
inline bool makes_elements(const Node& node) { return node.op->cuda_element.text != nullptr; }
// Whether a value is read element by element, and whether it is made.
bool reads_elements(std::span<const Node> nodes, ValueId id);
bool makes_value(std::span<const Node> nodes, ValueId id);

inline ReduceShape reduced_shape(const Trace& trace, const Node& reduction) {
  return ReduceShape(trace.spec(reduction.inputs[0]).shape, reduction.attributes.list("axes"));
}

struct ReducingBody {
  explicit ReducingBody(const Trace& body);
  int64_t value_bytes() const;
  // Elements of a lane are so far apart.
  int64_t step() const { return by_row ? 16 : shape.channels; }

  std::span<const Node> chain, reductions, results;
  ReduceShape shape;
  bool by_row;
};

// The statements of the policy's item(): reduce_cuda.h.
std::string reducing_item(const Trace& body, const ChainText& text_of, const ReducingBody& parts);

}  // namespace retrace
