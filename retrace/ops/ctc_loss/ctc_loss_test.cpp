#include "retrace/ops/ctc_loss/ctc_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

Tensor said(const std::vector<int32_t>& values, const Shape& shape) { return Tensor::from(values, shape); }

CaseInput of_numbers(const std::vector<double>& values, const Shape& shape) {
  return {.shape = shape, .type = DType::i32, .values = values};
}

OP_EXAMPLE(ctc_loss, ctc_loss(Tensor::zeros({1, 4, 3}), Tensor::from({1, 2}, {1, 2})));

OP_CASES(ctc_loss) {
  struct Sizes {
    const char* name;
    Shape x;
    std::vector<double> targets, lengths, target_lengths;
    CtcOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"of_ctc_all_count", {2, 6, 4}, {1, 2, 3, 3, 1, 2}, {6, 6}, {3, 3}, {}, "BTC"},
      {"of_ctc_lengths", {3, 5, 4}, {0, 2, 0, -9, 7, 7}, {5, 3, 4}, {2, 1, 0}, {.blank = 3}},
      {"of_ctc_repeats", {1, 7, 3}, {1, 1, 2, 2}, {7}, {4}, {.reduction = "sum"}},
      {"of_ctc_one_position", {2, 1, 3}, {2, 1}, {1, 1}, {1, 1}, {.reduction = "none"}}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, targets, lengths, target_lengths, options, labels] : all) {
    const int64_t samples = x[0], positions = static_cast<int64_t>(targets.size()) / samples;
    const CaseFunction forward = [options = options](const std::vector<Tensor>& in) {
      CtcOptions own = options;
      own.lengths = in[2], own.target_lengths = in[3];
      return std::vector<Tensor>{ctc_loss(in[0], in[1], own)};
    };
    cases.push_back({.op = "scan",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels},
                                of_numbers(targets, {samples, positions}),
                                of_numbers(lengths, {samples}),
                                of_numbers(target_lengths, {samples})},
                     .build = forward,
                     .bound = {.ulp = 4, .relative = 4e-6},
                     .gradient = {.ulp = 64, .relative = 2e-5, .tiny = true}});
  }
  return cases;
}

TEST(CtcLoss, TakesNoTargets) {
  const Tensor x = Tensor::zeros({2, 4, 3});
  EXPECT_NEAR(ctc_loss(x, Tensor::zeros({2, 0}, DType::i32)).number(), 4 * std::log(3.0), 1e-5);
}

// Two positions, uniform over blank, a and b: "a" is said by aa, _a and a_.
TEST(CtcLoss, CountsTheWaysOfSayingATarget) {
  const Tensor x = Tensor::zeros({1, 2, 3}), a = said({1}, {1, 1}), both = said({1, 2}, {1, 2});
  EXPECT_NEAR(ctc_loss(x, a).number(), -std::log(3.0 / 9), 1e-6);
  EXPECT_NEAR(ctc_loss(x, both, {.reduction = "sum"}).number(), -std::log(1.0 / 9), 1e-6);
  EXPECT_NEAR(ctc_loss(x, both).number(), -std::log(1.0 / 9) / 2, 1e-6);
  EXPECT_NEAR(ctc_loss(x, both, {.target_lengths = said({0}, {1})}).number(), -std::log(1.0 / 9), 1e-6);
  EXPECT_NEAR(ctc_loss(x, a, {.lengths = said({1}, {1})}).number(), std::log(3.0), 1e-6);
}

TEST(CtcLoss, IsInfiniteForATargetThatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 2, 3}), twice = said({1, 1, 1, 2}, {2, 2});  // "aa" needs a blank between
  const auto each = ctc_loss(x, twice, {.reduction = "none"}).to_vector<float>();
  EXPECT_EQ(each[0], INFINITY);
  EXPECT_NEAR(each[1], std::log(9.0), 1e-6);
  const Tensor loss = ctc_loss(x, twice, {.reduction = "sum", .zero_infinity = true});
  const auto dx = gradients(loss, std::vector<Tensor>{x})[0].to_vector<float>();
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(dx[i], 0) << i;
  EXPECT_NE(dx[6], 0);
}

TEST(CtcLoss, TakesLogitsOfProbability0) {
  const Tensor x = Tensor::from<float>({0, 0, -INFINITY, 0, 0, -INFINITY}, {1, 2, 3});
  EXPECT_NEAR(ctc_loss(x, said({1}, {1, 1})).number(), -std::log(3.0 / 4), 1e-6);
}

TEST(CtcLoss, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({2, 5, 4}), t = Tensor::zeros({2, 3}, DType::i32);
  const auto text = [](const Tensor& a, const Tensor& b, const CtcOptions& options = {}) {
    return error_text([&] { ctc_loss(a, b, options, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(x, Tensor::zeros({3, 2}, DType::i32)),
            "error[RT0283]: ctc_loss: the targets do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      targets i32[3,2], x f32[2,5,4]\n"
            "  expected: class numbers i32[2,positions]\n"
            "  help:     give shorter targets any number behind their end, and .target_lengths");
  EXPECT_EQ(text(x, t, {.lengths = Tensor::zeros({3}, DType::i32)}),
            "error[RT0283]: ctc_loss: lengths do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      lengths i32[3], x f32[2,5,4]\n"
            "  expected: i32[2], one for each sample");
  EXPECT_NE(text(Tensor::zeros({2, 5}), t).find("x are no logits of sequences"), std::string::npos);
  EXPECT_NE(text(x, Tensor::zeros({2, 3})).find("the targets do not fit"), std::string::npos);
  EXPECT_NE(text(x, t, {.blank = 4}).find("the blank 4 is no class"), std::string::npos);
  EXPECT_NE(text(x, t, {.reduction = "avg"}).find("there is no reduction \"avg\""), std::string::npos);
  EXPECT_NE(error_text([&] { ctc_loss(x, said({1, 9}, {2, 1})).number(); }).find("take_along_axis"), std::string::npos);
}

}  // namespace
}  // namespace retrace
