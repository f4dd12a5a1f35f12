#pragma once
// How long calls take.

#include "bench/op_calls/call.h"

namespace retrace::bench {

using Function = std::function<Results(const Call&)>;

// {"forward": us, "gradient": us}: of the first result, and of the gradients of a weighted sum of it for the inputs
// that are wanted; both by plans that are made before.
nlohmann::json timed(const Function& f, const std::vector<Tensor>& inputs, const std::vector<bool>& wanted,
                     const nlohmann::json& options);

}  // namespace retrace::bench
