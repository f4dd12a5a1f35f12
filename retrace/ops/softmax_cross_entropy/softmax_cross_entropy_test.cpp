#include "retrace/ops/softmax_cross_entropy/softmax_cross_entropy.h"

#include <gtest/gtest.h>

#include <bit>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/one_hot/one_hot.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/softmax/softmax.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/tensor/fingerprint.h"

namespace retrace {
namespace {

OP_EXAMPLE(softmax_cross_entropy, softmax_cross_entropy(Tensor::from<float>({0, 0, 0, 2}, {2, 2}),
                                                        Tensor::from({0, 1}, {2}), {.label_smoothing = 0.1}));

OP_CASES(softmax_cross_entropy) {
  const auto with = [](const char* name, Shape shape, const char* labels = "") {
    return OpCase{
        .op = "softmax_cross_entropy",
        .name = name,
        .inputs = {{.shape = shape, .low = -3, .high = 3, .labels = labels},
                   {.shape = shape, .low = 0, .high = 1, .labels = labels}},
        .build = two([](const Tensor& x, const Tensor& t, Place place) { return softmax_cross_entropy(x, t, place); }),
        .bound = {.ulp = 4, .relative = 2e-6},
        .gradient = {.ulp = 4, .relative = 4e-6, .tiny = true}};
  };
  std::vector<OpCase> cases{with("unlabelled", {7, 10}),          with("labelled", {7, 10}, "BC"),
                            with("images", {3, 5, 4, 2}, "BSSC"), with("channels_before_u", {2, 5, 3}, "BCU"),
                            with("without_batch", {10}),          with("large", {300, 40})};
  auto far = with("far_from_the_largest", {1, 2});  // log(softmax(x)) would be -inf here
  far.inputs[0].values = {-1000, 0};
  far.inputs[1].values = {1, 0};
  far.expected = {1000};
  far.differentiable = false;
  cases.push_back(far);
  auto special = with("special_values", {4, 16});
  special.inputs[0].values = special_values();
  special.differentiable = false;
  cases.push_back(special);
  return cases;
}

TEST(SoftmaxCrossEntropy, GradientForOneHotTargetsIsSoftmaxMinusTargetOverN) {
  const Tensor x = Tensor::from<float>({1, -2, 0.5f, 3, 0.25f, -1, 2, 2, 2, -7, 4, 0}, {4, 3}, "BC");
  const Tensor t = Tensor::from<float>({1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}, {4, 3}, "BC");
  const auto result = value_and_grad([&](const Tensor& logits) { return softmax_cross_entropy(logits, t); })(x);
  const auto found = result.gradients.to_vector<float>(), y = softmax(x).to_vector<float>(),
             wanted = t.to_vector<float>();
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint32_t>(found[i]), std::bit_cast<uint32_t>((y[i] - wanted[i]) * 0.25f)) << i;
}

TEST(SoftmaxCrossEntropy, ClassNumbersAreOneHotTargets) {
  const Tensor x = Tensor::from<float>({1, -2, 0.5f, 3, 0.25f, -1, 2, 2, 2, -7, 4, 0}, {4, 3}, "BC");
  const Tensor classes = Tensor::from<int32_t>({2, 0, 1, 1}, {4}, "B");
  const auto grad = [&](const Tensor& t) {
    return value_and_grad([&](const Tensor& logits) { return softmax_cross_entropy(logits, t); })(x);
  };
  const auto wanted = grad(one_hot(classes, 3)), found = grad(classes);
  EXPECT_EQ(found.value.item<float>(), wanted.value.item<float>());
  EXPECT_EQ(found.gradients.to_vector<float>(), wanted.gradients.to_vector<float>());
  EXPECT_EQ(softmax_cross_entropy(cast(x, DType::f64), classes).type(), DType::f64);
  const Tensor sequence = reshape(x, {2, 2, 3}, "BTC"), numbers = reshape(classes, {2, 2}, "BT");
  EXPECT_EQ(softmax_cross_entropy(sequence, numbers).item<float>(), 2 * wanted.value.item<float>());  // N = 2
  EXPECT_NE(error_text([&] {
              softmax_cross_entropy(x, Tensor::from<int32_t>({2, 0, 3, 1}, {4}, "B")).item<float>();
            }).find("RT0177"),
            std::string::npos);
}

// Without the last axis.
Shape shape_of_rows(const Shape& shape) {
  Shape rows;
  for (int i = 0; i + 1 < shape.rank(); ++i) rows.push_back(shape[i]);
  return rows;
}

// Class numbers.
OP_CASES(class_cross_entropy) {
  const auto with = [](const char* name, const char* op, Shape shape, const char* labels = "") {
    const Shape rows = shape_of_rows(shape);
    const std::string all = labels;
    std::vector<double> numbers;
    for (int64_t i = 0; i < 64; ++i) numbers.push_back(static_cast<double>(i * i % shape.back()));
    return OpCase{
        .op = op,
        .name = name,
        .inputs = {{.shape = shape, .low = -3, .high = 3, .labels = labels},
                   {.shape = rows,
                    .type = DType::i32,
                    .labels = all.substr(0, all.empty() ? 0 : all.size() - 1),
                    .values = numbers}},
        .build = two([](const Tensor& x, const Tensor& t, Place at) { return softmax_cross_entropy(x, t, at); }),
        .bound = {.ulp = 4, .relative = 2e-6},
        .gradient = {.ulp = 4, .relative = 4e-6, .tiny = true}};
  };
  std::vector<OpCase> cases{with("unlabelled", "class_cross_entropy", {7, 10}),
                            with("numbers", "class_numbers", {7, 10}, "BC"),
                            with("sequences", "class_cross_entropy", {3, 5, 86}, "BTC"),
                            with("one_sample", "class_cross_entropy", {10}),
                            with("one_class", "class_cross_entropy", {4, 1}),
                            with("numbers_before_u", "softmax_cross_entropy", {2, 5, 3}, "BCU"),
                            with("large", "class_cross_entropy", {300, 40})};
  cases[1].differentiable = false;
  cases[1].no_gradient = "the numbers of classes are whole";
  cases.push_back(with("bytes", "class_cross_entropy", {33, 17}, "BC"));
  cases.back().inputs[1].type = DType::u8;
  cases.push_back(with("special_values", "class_cross_entropy", {4, 16}));
  cases.back().inputs[0].values = special_values();
  cases.back().differentiable = false;
  return cases;
}

// The op of class numbers beside the one of one_hot, which are recorded differently.
TEST(SoftmaxCrossEntropy, ClassNumbersHaveTheBitsOfOneHotTargets) {
  for (const auto& [rows, classes] :
       {std::pair<int64_t, int64_t>{1, 1}, {5, 1}, {37, 10}, {16, 16}, {129, 86}, {3, 1000}}) {
    for (const bool special : {false, true}) {
      std::vector<float> scores;
      std::vector<int32_t> numbers;
      for (int64_t i = 0; i < rows * classes; ++i) {
        const auto numerator = static_cast<float>(i * 7919 % 4001 - 2000);
        scores.push_back(special && i % 97 == 5 ? static_cast<float>(special_values()[static_cast<size_t>(i % 16)])
                                                : numerator / 64);
      }
      for (int64_t i = 0; i < rows; ++i) numbers.push_back(static_cast<int32_t>(i * 31 % classes));
      const Tensor x = Tensor::from<float>(scores, {rows, classes}, "BC"),
                   t = Tensor::from<int32_t>(numbers, {rows}, "B");
      const auto grad = [&](const Tensor& target) {
        return value_and_grad([&](const Tensor& logits) { return -softmax_cross_entropy(logits, target); })(x);
      };
      const auto wanted = grad(one_hot(t, classes)), found = grad(t);
      EXPECT_EQ(fingerprint(Tree(found.value)), fingerprint(Tree(wanted.value)))
          << rows << " " << classes << " " << special;
      EXPECT_EQ(fingerprint(Tree(found.gradients)), fingerprint(Tree(wanted.gradients)))
          << rows << " " << classes << " " << special;
    }
  }
}

TEST(SoftmaxCrossEntropy, WrongArgumentsAreErrors) {
  const Place place{"model.cpp", 7};
  const Tensor x = Tensor::zeros({4, 10});
  EXPECT_EQ(error_text([&] { softmax_cross_entropy(x, Tensor::zeros({4, 9}), place); }),
            "error[RT0139]: softmax_cross_entropy: prediction and target differ in shape\n"
            "  where:    model.cpp:7\n"
            "  got:      prediction f32[4,10], target f32[4,9]\n"
            "  expected: the same sizes and labels: losses do not broadcast\n"
            "  help:     one_hot(...) makes targets of class numbers; reshape the target");
  EXPECT_EQ(error_text([&] { softmax_cross_entropy(Tensor::zeros({}), Tensor::zeros({}), place); }),
            "error[RT0133]: softmax_cross_entropy: x has no axes\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[]\n"
            "  expected: an axis of classes\n"
            "  help:     reshape x to [1, classes]");
  EXPECT_EQ(error_text([&] { softmax_cross_entropy(Tensor::zeros({2, 0}), Tensor::zeros({2, 0}), place); }),
            "error[RT0284]: softmax_cross_entropy: there are no classes\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[2,0]\n"
            "  expected: one class or more, along axis C or the last");
  EXPECT_EQ(error_text([&] { softmax_cross_entropy(x, Tensor::zeros({4, 10}, DType::i32), place); }),
            "error[RT0132]: softmax_cross_entropy: the arguments have the types f32 and i32\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[4,10] and the target i32[4,10]\n"
            "  expected: one type\n"
            "  help:     cast(the target, DType::f32)");
  EXPECT_EQ(error_text([&] { softmax_cross_entropy(Tensor::zeros({2}, DType::i32), x, place); }),
            "error[RT0131]: softmax_cross_entropy: the prediction is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      the prediction i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(the prediction, DType::f32)");
}

}  // namespace
}  // namespace retrace
