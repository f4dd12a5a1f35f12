#include "retrace/ops/one_hot/one_hot.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

CaseFunction with(int64_t classes) {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{one_hot(in[0], classes)}; };
}

OP_EXAMPLE(one_hot, one_hot(Tensor::from({2, 0}, {2}), 3));
OP_EXAMPLE(one_hot_decode, one_hot_decode(Tensor::from<float>({0.1, 0.7, 0.2, 0.5, 0.3, 0.2}, {2, 3})));

OP_CASES(one_hot) {
  const auto make = [](const char* name, CaseInput labels, int64_t classes, std::vector<double> expected) {
    return OpCase{.op = "one_hot",
                  .name = name,
                  .inputs = {std::move(labels)},
                  .build = with(classes),
                  .expected = std::move(expected),
                  .differentiable = false,
                  .no_gradient = "labels are integers"};
  };
  return {
      make("labels", {.shape = {3}, .type = DType::i32, .labels = "B", .values = {2, 0, 1}}, 3,
           {0, 0, 1, 1, 0, 0, 0, 1, 0}),
      make("u8", {.shape = {2, 1}, .type = DType::u8, .values = {1, 0}}, 2, {0, 1, 1, 0}),
      make("rank_0", {.type = DType::i32, .values = {1}}, 2, {0, 1}),
      make("empty", {.shape = {0}, .type = DType::i32}, 3, {}),
      make("many", {.shape = {1001}, .low = 0, .high = 10, .type = DType::u8, .labels = "B"}, 10, {}),
  };
}

TEST(OneHot, labels_the_new_axis) {
  EXPECT_EQ(one_hot(Tensor::zeros({3}, DType::i32, "B"), 2).labels(), "BC");
  EXPECT_EQ(one_hot(Tensor::zeros({3, 2}, DType::i32, "BC"), 2).labels(), "BCU");
  EXPECT_EQ(one_hot(Tensor::zeros({3}, DType::i32), 2).labels(), "");
}

TEST(OneHot, decodes_to_the_first_largest) {
  const auto scores = Tensor::from<float>({0.1f, 0.7f, 0.2f, 0.5f, 0.5f, 0.0f}, {2, 3}, "BC");
  EXPECT_EQ(one_hot_decode(scores).to_vector<int32_t>(), (std::vector<int32_t>{1, 0}));
}

TEST(OneHot, names_the_label_that_does_not_exist) {
  const auto labels = Tensor::from<int32_t>({0, 1, 2, 10}, {2, 2});
  EXPECT_EQ(error_text([&] { one_hot(labels, 10, {"model.cpp", 7}).to_vector<float>(); }),
            "error[RT0177]: one_hot: label 10 at [1,1] does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      i32[2,2]\n"
            "  expected: values from 0 to 9\n"
            "  help:     count labels from 0, or ask for more classes");
}

TEST(OneHot, refuses_float_labels_and_no_classes) {
  EXPECT_EQ(error_text([] { one_hot(Tensor::zeros({2}), 3, {"model.cpp", 7}); }),
            "error[RT0131]: one_hot: the labels are f32\n"
            "  where:    model.cpp:7\n"
            "  got:      labels f32[2]\n"
            "  expected: i32 or u8\n"
            "  help:     cast(labels, DType::i32)");
  EXPECT_EQ(error_text([] { one_hot(Tensor::zeros({2}, DType::i32), 0, {"model.cpp", 7}); }),
            "error[RT0178]: one_hot: there are 0 classes\n"
            "  where:    model.cpp:7\n"
            "  got:      labels i32[2]\n"
            "  expected: 1 class or more");
}

}  // namespace
}  // namespace retrace
