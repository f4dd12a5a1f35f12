#ifndef RETRACE_OPS_SCAN_H
#define RETRACE_OPS_SCAN_H
// Loops of one recorded body.

#include "retrace/base/function_ref.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// What one step of a scan makes: the next state, and what is kept of this step (empty: nothing).
struct ScanStep {
  Tree state, result;
};

// Options of scan.
struct ScanOptions {
  int64_t length = -1;   // the number of steps; -1: the size of the axis of xs
  bool reverse = false;  // from the last element to the first; results keep the places of their elements
};

// The state after the last step, and the results of all steps, stacked as xs are.
struct ScanResult {
  Tree state, results;
};

// state = initial; for t = 0, 1, ...: (state, results[t]) = body(state, xs[t]). The body is called once, with tensors
// that have no values yet, and what it records is planned once and run for each step, whatever the length: a tensor is
// a tree of one leaf, so a body may be
//
//   scan([&](const Tree& h, const Tree& x) -> ScanStep {
//     const Tensor next = tanh(linear(x, weights) + linear(h, recurrent_weights));
//     return {next, next};
//   }, h, xs)
//
// xs: leaves with labels are cut along T, those without along axis 0, into `length` elements without that axis; an
// empty tree: the body gets an empty tree, and the length is given. A result with labels gets the axis T at its place
// in the order B T S C U, one without labels (or with T) a first axis. The state keeps structure, types and shapes.
// Tensors and numbers that the body uses from outside are the same in every step. Trees, tensors and numbers: f32, f64,
// i32, u8, bool. On a CUDA device, which is that of state and xs, the steps stand in the plan one by one.
//
// Gradients, of any order, to the initial state, xs and what the body uses: a scan in the other direction, which reads
// the states that each step began with; they are kept. The gradient of what the body uses is a sum over the steps, from
// the last to the first. Same bits for any number of threads, and on a CUDA device. Error(usage): nothing says the
// length, or two lengths differ; the next state differs from the state in structure, type or shape; a value is read, or
// random numbers are drawn, inside the body.
ScanResult scan(FunctionRef<ScanStep(const Tree& state, const Tree& x)> body, const Tree& state, const Tree& xs,
                const ScanOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_SCAN_H
