#include "retrace/ops/adaptive_pool1d/adaptive_pool1d.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(adaptive_average_pool1d, adaptive_average_pool1d(Tensor::from<float>({1, 2, 3, 4, 5}, {1, 5, 1}), 2));
OP_EXAMPLE(adaptive_max_pool1d, adaptive_max_pool1d(Tensor::from<float>({1, 2, 3, 4, 5}, {1, 5, 1}), 3));

OP_CASES(adaptive_pool1d) {
  struct Lengths {
    const char* name;
    Shape x;
    int64_t size;
    std::string labels = "";
  };
  const std::vector<Lengths> all = {{"halves", {2, 6, 3}, 3, "BTC"},
                                    {"overlapping", {2, 7, 3}, 4, "BTC"},
                                    {"longer", {1, 3, 8}, 5},
                                    {"empty_batch", {0, 5, 3}, 2}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, size, labels] : all) {
    const bool even = std::string_view(name) == "halves";
    const std::string named = "of_adaptive_pool1d_" + std::string(name);
    cases.push_back(
        {.op = even ? "average_pool2d" : "adaptive_average_pool",
         .name = named,
         .inputs = {{.shape = x, .labels = labels}},
         .build = [size = size](const auto& in) { return std::vector{adaptive_average_pool1d(in[0], size)}; },
         .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = even ? "max_pool2d" : "adaptive_max_pool",
                     .name = named,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [size = size](const auto& in) { return std::vector{adaptive_max_pool1d(in[0], size)}; }});
  }
  return cases;
}

TEST(AdaptivePool1d, CutsTheSequenceIntoWindows) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5}, {1, 5, 1}, "BTC");
  EXPECT_EQ(adaptive_average_pool1d(x, 3).to_vector<float>(), (std::vector<float>{1.5f, 3, 4.5f}));
  EXPECT_EQ(adaptive_max_pool1d(x, 3).to_vector<float>(), (std::vector<float>{2, 4, 5}));
  EXPECT_EQ(adaptive_max_pool1d(x, 2).spec().text(), "f32[1,2,1] \"BTC\"");
}

TEST(AdaptivePool1d, SaysWhatDoesNotFit) {
  const auto text = [](const Tensor& x, int64_t size) { return error_text([&] { adaptive_average_pool1d(x, size); }); };
  EXPECT_NE(text(Tensor::zeros({4, 1}), 2).find("RT0271"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 4, 1}), 0).find("RT0287"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({1, 0, 1}), 2).find("RT0287"), std::string::npos);
}

}  // namespace
}  // namespace retrace
