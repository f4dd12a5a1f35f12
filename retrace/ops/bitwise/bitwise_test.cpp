#include "retrace/ops/bitwise/bitwise.h"

#include <gtest/gtest.h>

#include "retrace/device/device.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

using Bitwise = Tensor (*)(const Tensor&, const Operand&, Place);

void add_cases(std::vector<OpCase>& cases, const char* op, Bitwise f, std::vector<double> integers,
               std::vector<double> bytes) {
  OpCase made{.op = op,
              .name = "integers",
              .inputs = {{.shape = {4}, .type = DType::i32, .values = {12, -1, 16777217, -2147483648.0}},
                         {.shape = {4}, .type = DType::i32, .values = {10, 255, 16777216, 2147483647}}},
              .build = [f](const std::vector<Tensor>& in) { return std::vector{f(in[0], in[1], Place())}; },
              .expected = std::move(integers),
              .differentiable = false,
              .no_gradient = "the results are integers"};
  cases.push_back(made);
  made.name = "bytes";
  made.inputs = {{.shape = {2, 1}, .type = DType::u8, .values = {240, 15}},
                 {.shape = {2}, .type = DType::u8, .values = {255, 60}}};
  made.expected = std::move(bytes);
  cases.push_back(made);
}

OP_EXAMPLE(bitwise_and, bitwise_and(Tensor::from({12, 10}, {2}), 6));
OP_EXAMPLE(bitwise_or, bitwise_or(Tensor::from({12, 10}, {2}), 6));
OP_EXAMPLE(bitwise_xor, bitwise_xor(Tensor::from({12, 10}, {2}), 6));
OP_EXAMPLE(bitwise_not, bitwise_not(Tensor::from({0, 1}, {2})));

OP_CASES(bitwise) {
  std::vector<OpCase> cases;
  add_cases(cases, "bitwise_and", bitwise_and, {8, 255, 16777216, 0}, {240, 48, 15, 12});
  add_cases(cases, "bitwise_or", bitwise_or, {14, -1, 16777217, -1}, {255, 252, 255, 63});
  add_cases(cases, "bitwise_xor", bitwise_xor, {6, -256, 1, -1}, {15, 204, 240, 51});
  cases.push_back({.op = "bitwise_xor",
                   .name = "not",
                   .inputs = {{.shape = {3}, .type = DType::i32, .values = {0, -1, 16777216}}},
                   .build = one(bitwise_not),
                   .expected = {-1, 0, -16777217},
                   .differentiable = false});
  return cases;
}

TEST(Bitwise, OfBoolIsLogic) {
  const auto a = Tensor::from<bool>({false, false, true, true}, {4}),
             b = Tensor::from<bool>({false, true, false, true}, {4});
  EXPECT_EQ(bitwise_and(a, b).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 0, 0, 1}));
  EXPECT_EQ(bitwise_or(a, b).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(bitwise_xor(a, b).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ(bitwise_not(a).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 1, 0, 0}));
}

TEST(Bitwise, TakesNumbersAndBytes) {
  EXPECT_EQ(bitwise_and(Tensor::from<int32_t>({7, -8}, {2}), 12).to_vector<int32_t>(), (std::vector<int32_t>{4, 8}));
  EXPECT_EQ(bitwise_not(Tensor::from<uint8_t>({0, 15}, {2})).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 240}));
}

TEST(Bitwise, IsAlikeOnCuda) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  Device& cuda = *gpus()[0];
  const auto a = Tensor::from<int32_t>({12, -1, 16777217}, {3}), b = Tensor::from<int32_t>({10, 255, -5}, {3});
  const auto c = Tensor::from<uint8_t>({240, 15}, {2});
  for (Bitwise f : {Bitwise(bitwise_and), Bitwise(bitwise_or), Bitwise(bitwise_xor)}) {
    EXPECT_EQ(bit_difference(f(a, b, {}), f(a.to(cuda), b.to(cuda), {})), "");
    EXPECT_EQ(bit_difference(f(c, 60, {}), f(c.to(cuda), 60, {})), "");
  }
  EXPECT_EQ(bit_difference(bitwise_not(c), bitwise_not(c.to(cuda))), "");
}

TEST(Bitwise, RefusesFloatsAndTwoTypes) {
  const auto x = Tensor::zeros({2}), n = Tensor::zeros({2}, DType::i32), c = Tensor::zeros({2}, DType::u8);
  EXPECT_EQ(error_text([&] { bitwise_and(x, 3, {"model.cpp", 7}); }),
            "error[RT0217]: bitwise_and: a is f32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2]\n"
            "  expected: i32, u8 or bool");
  EXPECT_NE(error_text([&] { bitwise_not(x); }).find("a is f32"), std::string::npos);
  EXPECT_NE(error_text([&] { bitwise_or(n, c); }).find("have the types"), std::string::npos);
}

}  // namespace
}  // namespace retrace
