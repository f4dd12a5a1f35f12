#include "retrace/ops/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/dropout/dropout.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/tanh/tanh.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/run/accelerate.h"
#include "retrace/run/plan_cache.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Tensors = std::vector<Tensor>;

OP_EXAMPLE(checkpoint,
           checkpoint([](const Tree& x) { return Tree(tanh(exp(x.tensor()))); }, Tensor::from<float>({-1, 0, 1}, {3}))
               .tensor());
OP_EXAMPLE(recomputed, recomputed(Tensor::from<float>({1, 2, 3}, {3})));

OP_CASES(checkpoint) {
  std::vector<OpCase> cases = pointwise_cases({.op = "recomputed", .inputs = {{}}, .build = one(recomputed)});
  const Bound bound{.ulp = 4, .relative = 1e-6};
  cases.push_back(
      {.op = "checkpoint",
       .name = "with_a_tensor_from_outside",
       .inputs = {{.shape = {3, 5}}, {.shape = {5}}},
       .build =
           [](const Tensors& in) {
             return Tensors{
                 checkpoint([&](const Tree& x) -> Tree { return tanh(x.tensor() * in[1]); }, in[0]).tensor()};
           },
       .bound = bound});
  cases.push_back({.op = "checkpoint",
                   .name = "of_two_results",
                   .inputs = {{.shape = {4}}, {.shape = {4}}},
                   .build =
                       [](const Tensors& in) {
                         const Tree y = checkpoint(
                             [](const Tree& x) -> Tree {
                               return {{"product", x["a"].tensor() * x["b"].tensor()}, {"exp", exp(x["a"].tensor())}};
                             },
                             {{"a", in[0]}, {"b", in[1]}});
                         return Tensors{y["product"], y["exp"]};
                       },
                   .bound = bound});
  return cases;
}

// A loss behind blocks that have wide values.
Tensor loss_of(const Tensor& x, const Tensor& w, int64_t blocks, bool checkpoints) {
  const auto block = [&](const Tree& in) -> Tree {
    return matmul(tanh(matmul(in.tensor(), w)), w, {.transpose_b = true});
  };
  Tensor y = x;
  for (int64_t i = 0; i < blocks; ++i) y = checkpoints ? checkpoint(block, y).tensor() : block(y).tensor();
  return sum(y * y);
}

TEST(Checkpoint, HasTheBitsAndLessMemory) {
  std::vector<float> weights(8 * 512);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(static_cast<float>(i));
  const Tensor x = Tensor::full(0.5, {16, 8}), w = Tensor::from(weights, {8, 512});
  size_t bytes[2];
  std::vector<float> gradients[2];
  for (const bool checkpoints : {false, true}) {
    const auto step = accelerate(value_and_grad([&](const Tensor& in) { return loss_of(in, w, 6, checkpoints); }));
    gradients[checkpoints] = step(x).gradients.to_vector<float>();
    bytes[checkpoints] = last_plan()->arena_bytes();
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_LT(2 * bytes[1], bytes[0]);
}

TEST(Checkpoint, GradientsReachWhatIsUsedFromOutside) {
  const Tensor x = Tensor::ones({2, 3}), w = Tensor::arange(6);
  const auto gradient = [&](bool checkpoints) {
    return value_and_grad([&](const Tensor& p) { return loss_of(x, reshape(p, {3, 2}), 1, checkpoints); })(w)
        .gradients.to_vector<float>();
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

TEST(Checkpoint, RefusesValuesAndDrawsInside) {
  const Tensor x = Tensor::ones({3});
  EXPECT_NE(error_of([&] {
              checkpoint([](const Tree& in) -> Tree { return in.tensor() * in.tensor().to_vector<float>()[0]; }, x);
            }),
            "no error");
  EXPECT_NE(error_of([&] { checkpoint([](const Tree& in) -> Tree { return dropout(in.tensor(), 0.5); }, x); }),
            "no error");
}

}  // namespace
}  // namespace retrace
