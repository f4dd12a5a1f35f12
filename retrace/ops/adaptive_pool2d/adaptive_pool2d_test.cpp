#include "retrace/ops/adaptive_pool2d/adaptive_pool2d.h"

#include <gtest/gtest.h>

#include <numeric>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/average_pool2d/average_pool2d.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/cos/cos.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/max_pool2d/max_pool2d.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sin/sin.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"

namespace retrace {
namespace {

using Pool = Tensor (*)(const Tensor& x, Pair size);
Tensor means(const Tensor& x, Pair size) { return adaptive_average_pool2d(x, size); }
Tensor maxima(const Tensor& x, Pair size) { return adaptive_max_pool2d(x, size); }

// The gradient at x times v where x is used before, and the gradient of that for v.
std::vector<Tensor> spread(const std::vector<Tensor>& in, Pair size, Pool pool) {
  const Tensor before = sum(in[0] * in[0]);
  return {gradients(before + sum(pool(in[0], size) * in[1]), std::vector<Tensor>{in[0]})[0]};
}
std::vector<Tensor> picked(const std::vector<Tensor>& in, Pair size, Pool pool) {
  const Tensor dx = spread(in, size, pool)[0];
  return {gradients(sum(dx * dx), std::vector<Tensor>{in[1]})[0]};
}

OP_EXAMPLE(adaptive_average_pool2d, adaptive_average_pool2d(reshape(Tensor::arange(15), {1, 3, 5, 1}), {1, 2}));
OP_EXAMPLE(adaptive_max_pool2d, adaptive_max_pool2d(reshape(Tensor::arange(15), {1, 3, 5, 1}), {2, 3}));

OP_CASES(adaptive_pool2d) {
  struct Sizes {
    const char* name;
    Shape x;
    Pair size;
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"halves", {2, 6, 4, 3}, {3, 2}, "BSSC"},  {"overlapping", {2, 5, 7, 3}, {3, 4}, "BSSC"},
      {"repeated", {1, 10, 9, 8}, {4, 6}},       {"one_axis", {1, 6, 5, 2}, {6, 2}},
      {"larger", {1, 2, 3, 2}, {3, 5}},          {"empty_batch", {0, 5, 7, 3}, {3, 4}},
      {"many_channels", {2, 5, 4, 116}, {3, 3}}, {"long_windows", {1, 2, 1100, 1}, {2, 3}}};
  const auto parts = [](const Shape& x, Pair size) { return x[1] % size.y == 0 && x[2] % size.x == 0; };
  std::vector<OpCase> cases;
  for (const auto& [name, x, size, labels] : all) {
    const std::string named = "of_adaptive_" + std::string(name);
    cases.push_back(
        {.op = parts(x, size) ? "average_pool2d" : "adaptive_average_pool",
         .name = named,
         .inputs = {{.shape = x, .labels = labels}},
         .build = [size = size](const auto& in) { return std::vector{adaptive_average_pool2d(in[0], size)}; },
         .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = parts(x, size) ? "max_pool2d" : "adaptive_max_pool",
                     .name = named,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [size = size](const auto& in) { return std::vector{adaptive_max_pool2d(in[0], size)}; }});
    if (parts(x, size)) continue;
    const std::vector<CaseInput> inputs{{.shape = x, .labels = labels, .fixed = true},
                                        {.shape = {x[0], size.y, size.x, x[3]}, .labels = labels}};
    cases.push_back({.op = "adaptive_average_pool_gradient",
                     .name = named,
                     .inputs = inputs,
                     .build = [size = size](const auto& in) { return spread(in, size, means); },
                     .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = "adaptive_max_pool_gradient",
                     .name = named,
                     .inputs = inputs,
                     .build = [size = size](const auto& in) { return spread(in, size, maxima); },
                     .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = "adaptive_max_pool_gather",
                     .name = named,
                     .inputs = inputs,
                     .build = [size = size](const auto& in) { return picked(in, size, maxima); },
                     .bound = {.ulp = 1, .relative = 4e-6}});
  }
  return cases;
}

using Floats = std::vector<float>;

TEST(AdaptivePool2d, CutsTheImageIntoWindows) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5}, {1, 1, 5, 1}, "BSSC");
  EXPECT_EQ(adaptive_average_pool2d(x, {1, 2}).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(adaptive_average_pool2d(x, {1, 3}).to_vector<float>(), (Floats{1.5f, 3, 4.5f}));
  EXPECT_EQ(adaptive_average_pool2d(x, 1).to_vector<float>(), (Floats{3}));
  EXPECT_EQ(adaptive_max_pool2d(x, {1, 3}).to_vector<float>(), (Floats{2, 4, 5}));
  EXPECT_EQ(adaptive_max_pool2d(x, {2, 2}).spec().text(), "f32[1,2,2,1] \"BSSC\"");
}

// Every pair of sizes, beside the definition.
TEST(AdaptivePool2d, HasTheWindowsOfItsDefinition) {
  for (int64_t n = 1; n <= 12; ++n)
    for (int64_t size = 1; size <= 12; ++size) {
      Floats values, means, maxima;
      for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i * 5 % 7));
      for (int64_t i = 0; i < size; ++i) {
        const int64_t first = i * n / size, end = ((i + 1) * n + size - 1) / size;
        float sum = 0, most = 0;
        for (int64_t k = first; k < end; ++k)
          sum += values[static_cast<size_t>(k)], most = std::max(most, values[static_cast<size_t>(k)]);
        means.push_back(sum / static_cast<float>(end - first)), maxima.push_back(most);
      }
      const Tensor row = Tensor::from(values, {1, 1, n, 1}), column = reshape(row, {1, n, 1, 1});
      EXPECT_EQ(adaptive_average_pool2d(row, {1, size}).to_vector<float>(), means) << n << " to " << size;
      EXPECT_EQ(adaptive_average_pool2d(column, {size, 1}).to_vector<float>(), means) << n << " to " << size;
      EXPECT_EQ(adaptive_max_pool2d(row, {1, size}).to_vector<float>(), maxima) << n << " to " << size;
      EXPECT_EQ(adaptive_max_pool2d(column, {size, 1}).to_vector<float>(), maxima) << n << " to " << size;
    }
}

TEST(AdaptivePool2d, GivesTheGradientToTheFirstMaximum) {
  const Tensor x = Tensor::from<float>({0, 7, 7, 7, 0, 0, 0, 0, 0}, {1, 3, 3, 1});
  const auto loss = sum(adaptive_max_pool2d(x, {1, 2}));
  EXPECT_EQ(gradients(loss, std::vector<Tensor>{x})[0].to_vector<float>(), (Floats{0, 2, 0, 0, 0, 0, 0, 0, 0}));
}

// The definition of docs/numerics/gradients.md 5: a pooling of a slice for each kind of window, woven.
Tensor by_kinds(const Tensor& x, int axis, int64_t size, bool maximum) {
  const int64_t n = x.shape()[axis], common = std::gcd(n, size), kinds = size / common;
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < kinds; ++i) {
    const int64_t first = i * n / size, length = ((i + 1) * n + size - 1) / size - first;
    const Tensor windows = slice(x, axis, {first, first + n - n / common + length});
    const auto along = [axis](int64_t pixels) { return axis == 1 ? Pair(pixels, 1) : Pair(1, pixels); };
    const Pair stride = along(n / common);
    parts.push_back(maximum ? max_pool2d(windows, along(length), {.stride = stride})
                            : average_pool2d(windows, along(length), {.stride = stride}));
  }
  Shape shape = x.shape();
  shape[axis] = size;
  return reshape(stack(parts, axis + 1), shape);
}

// Results, gradients where x has other uses, before and after, and gradients of these.
TEST(AdaptivePool2d, HasTheBitsOfOnePoolingForEachKindOfWindow) {
  for (const auto& [x_shape, size] : {std::pair(Shape{2, 16, 12, 3}, Pair(7, 9)), {{1, 4, 6, 17}, {9, 10}}})
    for (const bool maximum : {false, true}) {
      const auto all = [&](const auto& pool) {
        const Tensor x = sin(reshape(Tensor::arange(x_shape.count(), DType::f32), x_shape));
        const Tensor v =
            cos(reshape(Tensor::arange(x_shape.count() / x_shape[1] / x_shape[2] * size.y * size.x, DType::f32),
                        {x_shape[0], size.y, size.x, x_shape[3]}));
        const Tensor before = sum(exp(x)), y = pool(x), after = sum(x * x * x);
        const Tensor dx = gradients(before + sum(y * v) + after, std::vector<Tensor>{x})[0];
        const Tensor dv = gradients(sum(dx * exp(dx)), std::vector<Tensor>{v})[0];
        return std::vector{y, dx, dv};
      };
      const auto fused = all(
          [&](const Tensor& x) { return maximum ? adaptive_max_pool2d(x, size) : adaptive_average_pool2d(x, size); });
      const auto apart =
          all([&](const Tensor& x) { return by_kinds(by_kinds(x, 2, size.x, maximum), 1, size.y, maximum); });
      for (size_t i = 0; i < fused.size(); ++i) EXPECT_EQ(bit_difference(fused[i], apart[i]), "") << i << maximum;
    }
}

TEST(AdaptivePool2d, SaysWhatDoesNotFit) {
  EXPECT_EQ(
      error_text([] { adaptive_average_pool2d(Tensor::zeros({1, 4, 4, 1}), {0, 2}, {"model.cpp", 7}); }),
      "error[RT0287]: adaptive_average_pool2d: x cannot become an image of 0 x 2 pixels\n"
      "  where:    model.cpp:7\n"
      "  got:      x f32[1,4,4,1]\n"
      "  expected: x f32 or f64 [batch,height,width,channels], unlabelled or \"BSSC\", with pixels, and sizes from "
      "1 to 4096");
  const auto text = [](const Tensor& x, Pair size) { return error_text([&] { adaptive_max_pool2d(x, size); }); };
  EXPECT_NE(text(Tensor::zeros({4, 4, 1}), 2).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 0, 1}), 2).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 4, 1}, DType::i32), 2).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 4, 1}), {2, 4097}).find("RT0287"), std::string::npos);
}

}  // namespace
}  // namespace retrace
