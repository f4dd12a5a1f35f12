#include "retrace/ops/compare/compare.h"

#include <gtest/gtest.h>

#include "retrace/device/device.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

constexpr const char* kNoGradient = "the results are bool";

using Comparison = Tensor (*)(const Tensor&, const Tensor&, Place);

OpCase exact(const char* op, Comparison compare, std::vector<double> expected) {
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  return {.op = op,
          .name = "exact",
          .inputs = {{.shape = {8}, .values = {1, 2, 2, infinity, nan, 0.0, nan, -1}},
                     {.shape = {8}, .values = {2, 1, 2, infinity, 1, -0.0, nan, -infinity}}},
          .build = two(compare),
          .expected = std::move(expected),
          .differentiable = false,
          .no_gradient = kNoGradient};
}

void add_all(std::vector<OpCase>& cases, const char* op, Comparison compare) {
  for (auto& one : pointwise_cases({.op = op, .inputs = {{}, {}}, .build = two(compare), .differentiable = false}))
    cases.push_back(one);
}

OP_EXAMPLE(less, less(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({2, 2, 2}, {3})));
OP_EXAMPLE(less_equal, less_equal(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({2, 2, 2}, {3})));
OP_EXAMPLE(greater, greater(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({2, 2, 2}, {3})));
OP_EXAMPLE(greater_equal, greater_equal(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({2, 2, 2}, {3})));
OP_EXAMPLE(equal, equal(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({2, 2, 2}, {3})));
OP_EXAMPLE(not_equal, not_equal(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({2, 2, 2}, {3})));

OP_CASES(compare) {
  std::vector<OpCase> cases;
  cases.push_back(exact("less", less, {1, 0, 0, 0, 0, 0, 0, 0}));
  cases.push_back(exact("less_equal", less_equal, {1, 0, 1, 1, 0, 1, 0, 0}));
  cases.push_back(exact("greater", greater, {0, 1, 0, 0, 0, 0, 0, 1}));
  cases.push_back(exact("greater_equal", greater_equal, {0, 1, 1, 1, 0, 1, 0, 1}));
  cases.push_back(exact("equal", equal, {0, 0, 1, 1, 0, 1, 0, 0}));
  cases.push_back(exact("not_equal", not_equal, {1, 1, 0, 0, 1, 0, 1, 1}));
  add_all(cases, "less", less);
  add_all(cases, "less_equal", less_equal);
  add_all(cases, "greater", greater);
  add_all(cases, "greater_equal", greater_equal);
  add_all(cases, "equal", equal);
  add_all(cases, "not_equal", not_equal);
  cases.push_back({.op = "less",
                   .name = "integers",
                   .inputs = {{.shape = {4}, .type = DType::i32, .values = {-5, 16777216, 16777217, 3}},
                              {.shape = {4}, .type = DType::i32, .values = {4, 16777217, 16777216, 3}}},
                   .build = two(less),
                   .expected = {1, 1, 0, 0},
                   .differentiable = false});
  cases.push_back({.op = "equal",
                   .name = "bool",
                   .inputs = {{.shape = {4}, .type = DType::boolean, .values = {0, 0, 1, 1}},
                              {.shape = {4}, .type = DType::boolean, .values = {0, 1, 0, 1}}},
                   .build = two(static_cast<Comparison>(equal)),
                   .expected = {1, 0, 0, 1},
                   .differentiable = false});
  return cases;
}

OP_EXAMPLE(equal_number, equal(Tensor::from({3, 0, 2}, {3}), 0));

TEST(Compare, takes_numbers) {
  const Tensor tokens = Tensor::from({3, 0, 2}, {3}), x = Tensor::from<float>({0.5f, 0, 2}, {3});
  EXPECT_EQ(equal(tokens, 0).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_EQ(not_equal(Tree(tokens), 2).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 1, 0}));
  EXPECT_EQ(equal(x, 0.5).to_vector<uint8_t>(), (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_THROW(equal(tokens, 0.5), Error);
}

TEST(Compare, refuses_sizes_that_do_not_fit) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 4});
  EXPECT_EQ(error_text([&] { less(a, b, {"model.cpp", 7}); }),
            "error[RT0135]: less: the sizes of the arguments do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and f32[2,4]\n"
            "  expected: equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
}

TEST(Compare, integers_compare_alike_on_cuda) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  Device& cuda = *gpus()[0];
  const auto a = Tensor::from<int32_t>({1, -2, 2147483647, -2147483647 - 1, 16777217}, {5});
  const auto b = Tensor::from<int32_t>({1, 3, -1, 5, 16777216}, {5});
  const auto c = Tensor::from<uint8_t>({1, 2, 255}, {3}), d = Tensor::from<uint8_t>({1, 3, 0}, {3});
  for (Comparison compare : {less, less_equal, greater, greater_equal, equal, not_equal}) {
    EXPECT_EQ(bit_difference(compare(a, b, {}), compare(a.to(cuda), b.to(cuda), {})), "");
    EXPECT_EQ(bit_difference(compare(c, d, {}), compare(c.to(cuda), d.to(cuda), {})), "");
  }
}

TEST(Compare, refuses_two_types) {
  const auto a = Tensor::zeros({2}), b = Tensor::zeros({2}, DType::i32);
  EXPECT_EQ(error_text([&] { less(a, b, {"model.cpp", 7}); }),
            "error[RT0132]: less: the arguments have the types f32 and i32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2] and the other argument i32[2]\n"
            "  expected: one type\n"
            "  help:     cast(the other argument, DType::f32)");
}

TEST(Compare, refuses_an_unlabelled_argument_with_more_axes) {
  const auto labelled = Tensor::zeros({3}, DType::f32, "C");
  EXPECT_EQ(error_text([&] { less(labelled, Tensor::zeros({2, 3}), {"model.cpp", 7}); }),
            "error[RT0136]: less: an unlabelled argument has more axes than a labelled one\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] \"C\"\n"
            "  expected: at most 1 axes, as in the labelled argument\n"
            "  help:     give it labels, or remove the labels of the other");
}

}  // namespace
}  // namespace retrace
