#pragma once
// How long calls take.

#include "bench/op_calls/call.h"

namespace retrace::bench {

// The name of array number i in a tree, which orders arrays by their names.
std::string entry(size_t i);

using Function = std::function<Results(const Call&)>;

// {"forward": us, "gradient": us, "gradient of a sum": us}: of the first result; of it with its vector-Jacobian product
// for the inputs that are wanted, as PyTorch's y.backward(weights) makes them; and of the value and the gradients of
// its weighted sum. By plans that are made before.
nlohmann::json timed(const Function& f, const std::vector<Tensor>& inputs, const std::vector<bool>& wanted,
                     const nlohmann::json& options);

}  // namespace retrace::bench
