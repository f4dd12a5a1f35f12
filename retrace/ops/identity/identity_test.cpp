#include "retrace/ops/identity/identity.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(identity, identity(Tensor::from<float>({1, 2, 3}, {3})));
OP_EXAMPLE(stop_gradient, stop_gradient(Tensor::from<float>({1, 2, 3}, {3})));

OP_CASES(identity) {
  auto cases = pointwise_cases({.op = "identity", .inputs = {{}}, .build = one(identity)});
  for (auto& one : pointwise_cases({.op = "stop_gradient",
                                    .inputs = {{}},
                                    .build = one(stop_gradient),
                                    .differentiable = false,
                                    .no_gradient = "to cut gradients is its purpose"}))
    cases.push_back(one);
  return cases;
}

}  // namespace
}  // namespace retrace
