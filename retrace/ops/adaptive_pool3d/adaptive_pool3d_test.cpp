#include "retrace/ops/adaptive_pool3d/adaptive_pool3d.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(adaptive_average_pool3d, adaptive_average_pool3d(reshape(Tensor::arange(12), {1, 3, 2, 2, 1}), {2, 1, 1}));
OP_EXAMPLE(adaptive_max_pool3d, adaptive_max_pool3d(reshape(Tensor::arange(12), {1, 3, 2, 2, 1}), {2, 1, 2}));

OP_CASES(adaptive_pool3d) {
  struct Sizes {
    const char* name;
    Shape x;
    Triple size;
    std::string labels = "";
  };
  const std::vector<Sizes> all = {{"halves", {2, 4, 2, 6, 3}, {2, 1, 3}, "BSSSC"},
                                  {"overlapping", {1, 5, 4, 3, 2}, {3, 3, 2}, "BSSSC"},
                                  {"larger", {1, 2, 3, 2, 2}, {3, 2, 3}},
                                  {"empty_batch", {0, 4, 3, 2, 2}, {2, 2, 1}}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, size, labels] : all) {
    const bool even = std::string_view(name) == "halves";
    const std::string named = "of_adaptive_pool3d_" + std::string(name);
    cases.push_back(
        {.op = even ? "average_pool2d" : "adaptive_average_pool",
         .name = named,
         .inputs = {{.shape = x, .labels = labels}},
         .build = [size = size](const auto& in) { return std::vector{adaptive_average_pool3d(in[0], size)}; },
         .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = even ? "max_pool2d" : "adaptive_max_pool",
                     .name = named,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [size = size](const auto& in) { return std::vector{adaptive_max_pool3d(in[0], size)}; }});
  }
  return cases;
}

// Beside the definition, in whole numbers.
TEST(AdaptivePool3d, HasTheWindowsOfItsDefinition) {
  const int64_t in[] = {5, 4, 6}, out[] = {3, 2, 4};
  std::vector<float> values, means, maxima;
  for (int i = 0; i < 5 * 4 * 6; ++i) values.push_back(static_cast<float>(i * 37 % 101));
  const auto window = [&](int axis, int64_t i) {
    return std::pair(i * in[axis] / out[axis], ((i + 1) * in[axis] + out[axis] - 1) / out[axis]);
  };
  for (int64_t i = 0; i < out[0]; ++i)
    for (int64_t j = 0; j < out[1]; ++j)
      for (int64_t k = 0; k < out[2]; ++k) {
        const auto [z0, z1] = window(0, i);
        const auto [y0, y1] = window(1, j);
        const auto [x0, x1] = window(2, k);
        double sum = 0, most = 0;
        for (int64_t z = z0; z < z1; ++z)
          for (int64_t y = y0; y < y1; ++y)
            for (int64_t x = x0; x < x1; ++x) {
              const double value = double{values[static_cast<size_t>((z * 4 + y) * 6 + x)]};
              sum += value, most = std::max(most, value);
            }
        means.push_back(static_cast<float>(sum / static_cast<double>((z1 - z0) * (y1 - y0) * (x1 - x0))));
        maxima.push_back(static_cast<float>(most));
      }
  const Tensor x = Tensor::from(values, {1, 5, 4, 6, 1}, "BSSSC");
  const Tensor y = adaptive_average_pool3d(x, {3, 2, 4});
  EXPECT_EQ(y.spec().text(), "f32[1,3,2,4,1] \"BSSSC\"");
  const auto found = y.to_vector<float>();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], means[i], 1e-4) << i;
  EXPECT_EQ(adaptive_max_pool3d(x, {3, 2, 4}).to_vector<float>(), maxima);
}

TEST(AdaptivePool3d, SaysWhatDoesNotFit) {
  const auto text = [](const Tensor& x, Triple size) { return error_text([&] { adaptive_max_pool3d(x, size); }); };
  EXPECT_NE(text(Tensor::zeros({1, 4, 4, 1}), 2).find("RT0279"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 4, 4, 1}), {0, 2, 2}).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 4, 4, 1}), {2, 2, 4097}).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 0, 4, 4, 1}), 2).find("RT0287"), std::string::npos);
}

}  // namespace
}  // namespace retrace
