#pragma once
// The form of an op that is a loop (Op::loop): `length` times one recorded trace, its attribute `body`.
//
//   body:    carries..., one element of each sequence..., others...  ->  next carries..., results...
//   inputs:  carries..., sequences [length,...]..., others...
//   outputs: last carries..., results [length,...]..., and with `history` what each carry was before each step
//            [length,...]...
//
// Iteration i takes element i of the sequences and makes element i of the results; with `reverse` they are taken and
// made from the last to the first. Sequences, results and histories have no labels.

#include "retrace/ops/op.h"

namespace retrace {

struct Loop {
  explicit Loop(const Attributes& attributes);
  Loop(std::shared_ptr<const Trace> body, int64_t length, size_t carries, size_t sequences, bool reverse, bool history);

  size_t results() const { return body->outputs.size() - carries; }
  size_t others() const { return body->inputs.size() - carries - sequences; }
  int64_t place_of(int64_t iteration) const { return reverse ? length - 1 - iteration : iteration; }

  std::shared_ptr<const Trace> body;
  int64_t length;
  size_t carries, sequences;
  bool reverse, history;
};

// Records the op; returns its outputs. The body has the inputs and outputs that are said above.
std::vector<Tensor> record_loop(const Loop& loop, std::span<const Tensor> inputs, Place place);

// Its gradient, which needs what is to the right of this folder: retrace/autodiff/scan_gradient.cpp.
std::vector<Tensor> loop_gradient(const GradientCall& call);

}  // namespace retrace
