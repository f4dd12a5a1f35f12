#include "retrace/ops/multiply_add/multiply_add.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(multiply_add, multiply_add(Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<float>({10, 20, 30}, {3}),
                                      Tensor::from<float>({0.5, 0.5, 0.5}, {3})));

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

TEST(MultiplyAdd, TakesATensorTwice) {
  const Tensor x = Tensor::from<float>({2, 3}, {2}), y = Tensor::from<float>({10, 20}, {2});
  EXPECT_EQ(multiply_add(x, x, y).to_vector<float>(), (std::vector<float>{14, 29}));
  EXPECT_EQ(multiply_add(x, y, x).to_vector<float>(), (std::vector<float>{22, 63}));
  EXPECT_EQ(multiply_add(y, x, x).to_vector<float>(), (std::vector<float>{22, 63}));
  EXPECT_EQ(multiply_add(x, x, x).to_vector<float>(), (std::vector<float>{6, 12}));
}

TEST(MultiplyAdd, WrongArgumentsAreErrors) {
  const Tensor x = Tensor::zeros({3});
  EXPECT_EQ(error_text([&] { multiply_add(Tensor::zeros({3}, DType::i32), x, x, {"model.cpp", 7}); }),
            "error[RT0131]: multiply_add: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_EQ(error_text([&] { multiply_add(x, x, Tensor::zeros({3}, DType::f64), {"model.cpp", 7}); }),
            "error[RT0132]: multiply_add: the arguments have the types f32 and f64\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] and the other argument f64[3]\n"
            "  expected: one type\n"
            "  help:     cast(the other argument, DType::f32)");
  EXPECT_EQ(error_text([&] { multiply_add(x, Tensor::zeros({2}), x, {"model.cpp", 7}); }),
            "error[RT0135]: multiply_add: the sizes of the arguments do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] and f32[2] and f32[3]\n"
            "  expected: equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
  EXPECT_EQ(error_text(
                [&] { multiply_add(Tensor::zeros({3}, DType::f32, "C"), Tensor::zeros({2, 3}), x, {"model.cpp", 7}); }),
            "error[RT0136]: multiply_add: an unlabelled argument has more axes than a labelled one\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[3] \"C\"\n"
            "  expected: at most 1 axes, as in the labelled argument\n"
            "  help:     give it labels, or remove the labels of the other");
}

}  // namespace
}  // namespace retrace
