#include "retrace/ops/max_unpool2d/max_unpool2d.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(max_pool2d_with_index, max_pool2d_with_index(reshape(Tensor::arange(16), {1, 4, 4, 1}), 2).index);
OP_EXAMPLE(max_unpool2d,
           max_unpool2d(Tensor::from<float>({7, 9}, {1, 1, 2, 1}), Tensor::from({1, 6}, {1, 1, 2, 1}), {2, 4}));

OP_CASES(max_unpool2d) {
  struct Sizes {
    const char* name;
    Shape x;
    Pair pool;
    MaxPool2dOptions options = {};
    std::string labels = "";
  };
  const std::vector<Sizes> all = {{"halves", {2, 4, 6, 8}, 2, {}, "BSSC"},
                                  {"rest", {2, 5, 7, 3}, {2, 3}},
                                  {"overlapping", {1, 5, 6, 3}, 3, {.stride = 1}},
                                  {"padded", {1, 5, 6, 3}, {3, 2}, {.stride = 2, .padding = {1, 0, 1, 1}}},
                                  {"large_windows", {1, 20, 18, 2}, {17, 18}, {.stride = 1}},
                                  {"empty_batch", {0, 4, 4, 2}, 2}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, pool, options, labels] : all) {
    const std::string named = "of_unpool_" + std::string(name);
    const Pair size(x[1], x[2]);
    cases.push_back({.op = "max_pool2d",
                     .name = named,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [pool = pool, options = options](const auto& in) {
                       return std::vector{max_pool2d_with_index(in[0], pool, options).y};
                     }});
    cases.push_back({.op = "scatter_add",
                     .name = named,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [pool = pool, options = options, size](const auto& in) {
                       const auto [y, index] = max_pool2d_with_index(in[0], pool, options);
                       return std::vector{max_unpool2d(multiply(y, y), index, size)};
                     }});
    cases.back().bound = {.ulp = 1, .relative = 4e-6};
  }
  return cases;
}

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;

// Beside max_pool2d, and by the index alone.
TEST(MaxUnpool2d, KnowsWhereTheMaximaStood) {
  Floats values;
  for (int i = 0; i < 2 * 7 * 6 * 3; ++i) values.push_back(static_cast<float>(i * 37 % 101));
  const Tensor x = Tensor::from(values, {2, 7, 6, 3}, "BSSC");
  const MaxPool2dOptions all[] = {{}, {.stride = 1}, {.stride = {2, 1}, .padding = {1, 0, 1, 1}}, {.padding = same}};
  for (const auto& options : all) {
    const auto [y, index] = max_pool2d_with_index(x, {3, 2}, options);
    EXPECT_EQ(y.to_vector<float>(), max_pool2d(x, {3, 2}, options).to_vector<float>());
    EXPECT_EQ(index.spec().text(), "i32" + y.spec().text().substr(3));
    const auto maxima = y.to_vector<float>();
    const auto places = index.to_vector<int32_t>();
    const size_t of_image = maxima.size() / 2;
    for (size_t i = 0; i < maxima.size(); ++i) {
      const size_t place = static_cast<size_t>(places[i]) * 3 + i % 3;
      EXPECT_EQ(values[i / of_image * 7 * 6 * 3 + place], maxima[i]) << i;
    }
  }
}

TEST(MaxUnpool2d, PutsThemBack) {
  const Tensor x = Tensor::from<float>({1, 5, 2, 3, 4, 0, 9, 1}, {1, 2, 4, 1}, "BSSC");
  const auto [y, index] = max_pool2d_with_index(x, 2);
  EXPECT_EQ(index.to_vector<int32_t>(), (Integers{1, 6}));
  const Tensor back = max_unpool2d(y, index, {2, 4});
  EXPECT_EQ(back.to_vector<float>(), (Floats{0, 5, 0, 0, 0, 0, 9, 0}));
  EXPECT_EQ(back.spec().text(), "f32[1,2,4,1] \"BSSC\"");
  const Tensor twice = max_unpool2d(Tensor::from<float>({2, 3}, {1, 1, 2, 1}), Tensor::from({1, 1}, {1, 1, 2, 1}), 2);
  EXPECT_EQ(twice.to_vector<float>(), (Floats{0, 5, 0, 0}));
}

TEST(MaxUnpool2d, SaysWhatDoesNotFit) {
  const Tensor y = Tensor::zeros({1, 1, 2, 1}), index = Tensor::from({0, 8}, {1, 1, 2, 1});
  EXPECT_EQ(error_text([&] { max_unpool2d(y, y, 2, {"model.cpp", 7}); }),
            "error[RT0288]: max_unpool2d: y and the index are no pooled images\n"
            "  where:    model.cpp:7\n"
            "  got:      y f32[1,1,2,1], index f32[1,1,2,1]\n"
            "  expected: y f32 or f64 [batch,height,width,channels], unlabelled or \"BSSC\", and an i32 of this shape\n"
            "  help:     max_pool2d_with_index makes both");
  EXPECT_EQ(error_text([&] { max_unpool2d(y, index, {2, -4}, {"model.cpp", 7}); }),
            "error[RT0289]: max_unpool2d: 2 x -4 is no size of an image\n"
            "  where:    model.cpp:7\n"
            "  got:      y f32[1,1,2,1]\n"
            "  expected: the height and the width of what was pooled, with fewer than 2^31 pixels");
  EXPECT_NE(error_text([&] { max_unpool2d(y, index, {1 << 16, 1 << 15}); }).find("RT0289"), std::string::npos);
  EXPECT_NE(error_text([&] { max_unpool2d(y, index, {2, 4}).to_vector<float>(); }).find("element 8 at [0,1,0]"),
            std::string::npos);
  EXPECT_EQ(
      error_text([&] { max_pool2d_with_index(Tensor::zeros({0, 1 << 16, 1 << 15, 1}), 2, {}, {"model.cpp", 7}); }),
      "error[RT0289]: max_pool2d_with_index: an image has 2^31 pixels or more\n"
      "  where:    model.cpp:7\n"
      "  got:      x f32[0,65536,32768,1]\n"
      "  expected: fewer than 2^31 pixels, which an i32 can number");
}

}  // namespace
}  // namespace retrace
