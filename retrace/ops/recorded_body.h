#pragma once
// A function of the user as a trace of its own, for ops that have it as an attribute.

#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/trace/record.h"

namespace retrace {

struct RecordedBody {
  Trace trace;               // inputs: those that were asked for, then `used`
  std::vector<Tensor> used;  // of the recording around it, or known: what the function uses from outside
};

// Calls `body` once, with tensors of these specs that have no values, and records what it computes. `what` names the
// caller in errors. Error(usage): a value is read, or random numbers are drawn without a key, inside the body.
RecordedBody record_body(const char* what, std::span<const TensorSpec> inputs,
                         FunctionRef<std::vector<Tensor>(std::span<const Tensor> inputs)> body, Place place);

}  // namespace retrace
