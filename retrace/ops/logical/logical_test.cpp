#include "retrace/ops/logical/logical.h"

#include <gtest/gtest.h>

#include "retrace/device/device.h"
#include "retrace/ops/testing/activation_cases.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

using Logic = Tensor (*)(const Tensor&, const Tensor&, Place);
constexpr const char* kNoGradient = "the results are bool";

void add_cases(std::vector<OpCase>& cases, const char* op, Logic f, std::vector<double> of_pairs) {
  const double nan = __builtin_nan("");
  OpCase made{.op = op, .inputs = {{}, {}}, .build = two(f), .differentiable = false, .no_gradient = kNoGradient};
  made.name = "floats";
  made.inputs = {{.shape = {4}, .values = {-0.0, 0.0, nan, 2}}, {.shape = {4}, .values = {0.0, 3, 0.0, -1}}};
  made.expected = of_pairs;
  cases.push_back(made);
  made.name = "truths";
  for (auto& input : made.inputs) input.type = DType::boolean;
  made.inputs[0].values = {0, 0, 1, 1}, made.inputs[1].values = {0, 1, 0, 1};
  cases.push_back(made);
  made.name = "by_label";
  made.expected.clear();
  for (auto& input : made.inputs) input = {.low = 0, .high = 2, .type = DType::boolean};
  made.inputs[0].shape = {4, 3, 5}, made.inputs[0].labels = "BSC", made.inputs[1].shape = {5},
  made.inputs[1].labels = "C";
  cases.push_back(made);
}

OP_EXAMPLE(logical_and, logical_and(Tensor::from({true, true, false}, {3}), Tensor::from({true, false, false}, {3})));
OP_EXAMPLE(logical_or, logical_or(Tensor::from({true, true, false}, {3}), Tensor::from({true, false, false}, {3})));
OP_EXAMPLE(logical_xor, logical_xor(Tensor::from({true, true, false}, {3}), Tensor::from({true, false, false}, {3})));
OP_EXAMPLE(logical_not, logical_not(Tensor::from({true, true, false}, {3})));
OP_EXAMPLE(any, any(Tensor::from({true, true, false}, {3})));
OP_EXAMPLE(all, all(Tensor::from({true, true, false}, {3})));

OP_CASES(logical) {
  std::vector<OpCase> cases;
  add_cases(cases, "logical_and", logical_and, {0, 0, 0, 1});
  add_cases(cases, "logical_or", logical_or, {0, 1, 1, 1});
  add_cases(cases, "logical_xor", logical_xor, {0, 1, 1, 0});
  const OpCase like{.op = "logical_not",
                    .inputs = {{.low = 0, .high = 2, .type = DType::boolean}},
                    .build = one(logical_not),
                    .differentiable = false,
                    .no_gradient = kNoGradient};
  cases.push_back(exact_case(like, {0, 1, 1, 0}, {1, 0, 0, 1}));
  auto floats = exact_case(like, {0.0, -0.0, __builtin_nan(""), 3}, {1, 1, 0, 0});
  floats.name = "floats", floats.inputs[0].type = DType::f32;
  cases.push_back(floats);
  return cases;
}

TEST(Logical, integers_are_alike_on_cuda) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  Device& cuda = *gpus()[0];
  const auto a = Tensor::from<int32_t>({0, 0, -7, 1}, {4}), b = Tensor::from<int32_t>({0, 5, 0, 2}, {4});
  for (Logic f : {Logic(logical_and), Logic(logical_or), Logic(logical_xor)})
    EXPECT_EQ(bit_difference(f(a, b, {}), f(a.to(cuda), b.to(cuda), {})), "");
  EXPECT_EQ(bit_difference(logical_not(a), logical_not(a.to(cuda))), "");
}

TEST(Any, IsTrueWhereOneElementIs) {
  const auto x = Tensor::from<float>({0, -0.0f, 0, __builtin_nanf(""), 2, 3}, {3, 2}, "BC");
  EXPECT_EQ(any(x, "C").to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(all(x, "C").to_vector<uint8_t>(), (std::vector<uint8_t>{0, 0, 1}));
  EXPECT_EQ(any(x).item<uint8_t>(), 1);
  EXPECT_EQ(all(x).item<uint8_t>(), 0);
  EXPECT_EQ(any(x, 0, {.keep = true}).spec().text(), "bool[1,2] \"BC\"");
  EXPECT_EQ(all(x, 0, {.keep = true}).spec().text(), "bool[1,2] \"BC\"");
  EXPECT_EQ(all(Tensor::from<int32_t>({256, -1}, {2})).item<uint8_t>(), 1);
  EXPECT_EQ(any(Tensor::scalar(3.0f)).item<uint8_t>(), 1);
}

TEST(Any, OfNothingIsFalseAndAllOfNothingIsTrue) {
  const auto x = Tensor::zeros({2, 0});
  EXPECT_EQ(any(x, 1).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(all(x, 1).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(any(x, 0).spec().text(), "bool[0]");
  EXPECT_EQ(all(x).item<uint8_t>(), 1);
}

}  // namespace
}  // namespace retrace
