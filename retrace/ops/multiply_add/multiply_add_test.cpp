#include "retrace/ops/multiply_add/multiply_add.h"

#include <gtest/gtest.h>

#include "retrace/ops/op_case.h"

namespace retrace {
namespace {

OP_CASES(multiply_add) {
  const OpCase like{
      .op = "multiply_add",
      .inputs = {{}, {}, {}},
      .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{multiply_add(in[0], in[1], in[2])}; },
      .bound = {.ulp = 0.5, .relative = 1e-15}};
  auto cases = pointwise_cases(like);
  OpCase broadcast = like;
  broadcast.name = "broadcast";
  broadcast.inputs = {{.shape = {3, 5}}, {.shape = {}}, {.shape = {5}}};
  cases.push_back(broadcast);
  OpCase once = like;  // the product alone would round its last bits away
  once.name = "rounds_once";
  once.inputs = {
      {.shape = {1}, .values = {0x1.001p0}}, {.shape = {1}, .values = {0x1.001p0}}, {.shape = {1}, .values = {-1}}};
  once.expected = {0x1p-11 + 0x1p-24};
  cases.push_back(once);
  return cases;
}

TEST(MultiplyAdd, WrongArgumentsAreErrors) {
  const Tensor x = Tensor::zeros({3});
  const auto text = error_text([&] { multiply_add(x, Tensor::zeros({2}), x); });
  EXPECT_NE(text.find("multiply_add: the sizes of the arguments do not fit"), std::string::npos) << text;
  EXPECT_NE(text.find("multiply_add_test.cpp"), std::string::npos) << text;
}

}  // namespace
}  // namespace retrace
