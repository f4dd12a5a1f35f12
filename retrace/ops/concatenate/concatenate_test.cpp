#include "retrace/ops/concatenate/concatenate.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction along(int axis) {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{concatenate(in, axis)}; };
}

OP_EXAMPLE(concatenate, concatenate({Tensor::arange(2), Tensor::arange(3)}, 0));
OP_EXAMPLE(stack, stack({Tensor::zeros({3}), Tensor::arange(3)}));

OP_CASES(concatenate) {
  return {
      {.op = "concatenate", .name = "one", .inputs = {{.shape = {3, 5}}}, .build = along(0)},
      {.op = "concatenate",
       .name = "first_axis",
       .inputs = {{.shape = {3, 5}}, {.shape = {1, 5}}, {.shape = {2, 5}}},
       .build = along(0)},
      {.op = "concatenate", .name = "last_axis", .inputs = {{.shape = {3, 5}}, {.shape = {3, 2}}}, .build = along(-1)},
      {.op = "concatenate",
       .name = "middle",
       .inputs = {{.shape = {2, 3, 4}}, {.shape = {2, 1, 4}}},
       .build = along(1)},
      {.op = "concatenate", .name = "with_empty", .inputs = {{.shape = {0, 4}}, {.shape = {3, 4}}}, .build = along(0)},
      {.op = "concatenate",
       .name = "labelled",
       .inputs = {{.shape = {2, 3, 3, 4}, .labels = "BSSC"}, {.shape = {2, 3, 3, 5}, .labels = "BSSC"}},
       .build = along(3)},
      {.op = "concatenate",
       .name = "stacked",
       .inputs = {{.shape = {2, 3}}, {.shape = {2, 3}}, {.shape = {2, 3}}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{stack(in, -1), stack(in)}; }},
      {.op = "concatenate",
       .name = "stacked_exact",
       .inputs = {{.shape = {2}, .type = DType::i32, .values = {1, 2}},
                  {.shape = {2}, .type = DType::i32, .values = {3, 4}}},
       .build = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{stack(in, 1)}; },
       .expected = {1, 3, 2, 4},
       .differentiable = false},
      {.op = "concatenate",
       .name = "special_values",
       .inputs = {{.shape = {16}, .values = special_values()}, {.shape = {1}}},
       .build = along(0),
       .differentiable = false},
      {.op = "concatenate",
       .name = "exact",
       .inputs = {{.shape = {2, 1}, .type = DType::i32, .values = {1, 2}},
                  {.shape = {2, 2}, .type = DType::i32, .values = {3, 4, 5, 6}}},
       .build = along(1),
       .expected = {1, 3, 4, 2, 5, 6},
       .differentiable = false},
  };
}

TEST(Concatenate, refuses_sizes_that_do_not_fit) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 4});
  EXPECT_EQ(error_text([&] { concatenate({a, a, b}, 0, {"model.cpp", 7}); }),
            "error[RT0176]: concatenate: tensor 2 does not fit tensor 0\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and f32[2,4]\n"
            "  expected: equal types, labels and sizes, except along axis 0");
}

TEST(Concatenate, refuses_other_labels_and_types) {
  const auto a = Tensor::zeros({2, 3}, DType::f32, "BC"), b = Tensor::zeros({2, 3}),
             c = Tensor::zeros({2, 3}, DType::i32);
  EXPECT_EQ(error_text([&] { concatenate({a, b}, 0, {"model.cpp", 7}); }),
            "error[RT0176]: concatenate: tensor 1 does not fit tensor 0\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] \"BC\" and f32[2,3]\n"
            "  expected: equal types, labels and sizes, except along axis 0");
  EXPECT_EQ(error_text([&] { concatenate({b, c}, 0, {"model.cpp", 7}); }),
            "error[RT0176]: concatenate: tensor 1 does not fit tensor 0\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and i32[2,3]\n"
            "  expected: equal types, labels and sizes, except along axis 0");
}

TEST(Concatenate, refuses_an_empty_list_and_an_absent_axis) {
  EXPECT_EQ(error_text([] { concatenate(std::span<const Tensor>(), 0, {"model.cpp", 7}); }),
            "error[RT0175]: concatenate: there is no tensor to join\n"
            "  where:    model.cpp:7\n"
            "  got:      an empty list\n"
            "  expected: one tensor or more");
  EXPECT_EQ(error_text([] { concatenate({Tensor::zeros({2})}, 1, {"model.cpp", 7}); }),
            "error[RT0134]: concatenate: axis 1 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      a tensor with 1 axes\n"
            "  expected: an axis from -1 to 0");
}

TEST(Stack, makes_a_batch_of_samples) {
  const auto a = Tensor::zeros({2, 3}, DType::f32, "SC");
  EXPECT_EQ(stack({a, a}, "B").spec().text(), "f32[2,2,3] \"BSC\"");
  EXPECT_EQ(stack({a, a}).spec().text(), "f32[2,2,3]");
  EXPECT_EQ(stack({a, a, a}, -1).spec().text(), "f32[2,3,3] \"SCU\"");
  EXPECT_EQ(stack({Tensor::scalar(1.0f), Tensor::scalar(2.0f)}).to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Concatenate, joins_rows_of_any_length) {
  for (const int64_t length : {1, 7, 15, 16, 17, 31, 32, 33, 100, 127, 128, 129, 300}) {
    const auto x = reshape(Tensor::arange(5 * static_cast<double>(length), DType::i32), {5, length});
    const auto y = concatenate({x, slice(x, 1, {length / 2, length})}, 1);
    const auto made = y.to_vector<int32_t>();
    const int64_t width = y.shape()[1];
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t row = i / width, column = i % width;
      ASSERT_EQ(made[static_cast<size_t>(i)], row * length + (column < length ? column : column - length + length / 2))
          << length << " element " << i;
    }
  }
}

TEST(Stack, refuses_what_does_not_fit) {
  const auto a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 1});
  EXPECT_EQ(error_text([&] { stack({a, b}, 0, {"model.cpp", 7}); }),
            "error[RT0176]: stack: tensor 1 does not fit tensor 0\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,3] and f32[2,1]\n"
            "  expected: equal types, labels and sizes");
  EXPECT_EQ(error_text([&] { stack(std::span<const Tensor>(), 0, {"model.cpp", 7}); }),
            "error[RT0175]: stack: there is no tensor to join\n"
            "  where:    model.cpp:7\n"
            "  got:      an empty list\n"
            "  expected: one tensor or more");
}

TEST(Concatenate, the_op_refuses_an_absent_axis) {
  EXPECT_EQ(infer_error("concatenate", {{"axis", int64_t{1}}}, {{DType::f32, {2}, {}, {}}}),
            "error[RT0134]: concatenate: axis 1 does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2]\n"
            "  expected: an axis from -1 to 0");
}

}  // namespace
}  // namespace retrace
