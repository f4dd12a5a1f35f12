#include "retrace/ops/resize2d/resize2d.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

std::vector<Tensor> spread(const std::vector<Tensor>& in, const Resize2dOptions& options) {
  const Tensor y = resize2d(in[0], options);
  return {gradients(sum(y * y), std::vector<Tensor>{in[0]})[0]};
}

OP_EXAMPLE(resize2d, resize2d(reshape(Tensor::arange(4), {1, 2, 2, 1}), {.factor = 2, .method = "bilinear"}));

OP_CASES(resize2d) {
  struct Sizes {
    const char* name;
    Shape x;
    Resize2dOptions options;
    std::string labels = "";
  };
  const std::vector<Sizes> all = {
      {"nearest_doubles", {2, 3, 4, 16}, {.factor = 2}, "BSSC"},
      {"nearest_odd", {2, 5, 3, 3}, {.size = {7, 2}}},
      {"nearest_factors", {1, 4, 6, 5}, {.factor = {1.5, 0.5}}},
      {"bilinear_doubles", {2, 3, 4, 16}, {.factor = 2, .method = "bilinear"}, "BSSC"},
      {"bilinear_odd", {2, 5, 3, 37}, {.size = {7, 11}, .method = "bilinear"}},
      {"bilinear_smaller", {1, 9, 8, 5}, {.size = {4, 3}, .method = "bilinear"}},
      {"bilinear_one_to_many", {1, 1, 2, 3}, {.size = {4, 5}, .method = "bilinear"}},
      {"bilinear_many_to_one", {1, 4, 5, 3}, {.size = 1, .method = "bilinear"}},
      {"corners", {2, 5, 3, 17}, {.size = {8, 9}, .method = "bilinear", .align_corners = true}},
      {"corners_smaller", {1, 7, 9, 3}, {.size = {3, 4}, .method = "bilinear", .align_corners = true}},
      {"corners_of_one", {1, 1, 4, 3}, {.size = {3, 1}, .method = "bilinear", .align_corners = true}},
      {"same_size", {1, 3, 4, 2}, {.factor = 1, .method = "bilinear"}},
      {"empty_batch", {0, 3, 4, 2}, {.factor = 2, .method = "bilinear"}}};
  std::vector<OpCase> cases;
  for (const auto& [name, x, options, labels] : all) {
    cases.push_back(
        {.op = "resize2d",
         .name = name,
         .inputs = {{.shape = x, .labels = labels}},
         .build = [options = options](const auto& in) { return std::vector<Tensor>{resize2d(in[0], options)}; },
         .bound = {.ulp = 1, .relative = 4e-6}});
    cases.push_back({.op = "resize2d_gradient",
                     .name = name,
                     .inputs = {{.shape = x, .labels = labels}},
                     .build = [options = options](const auto& in) { return spread(in, options); },
                     .bound = {.ulp = 1, .relative = 4e-6}});
  }
  return cases;
}

using Floats = std::vector<float>;

TEST(Resize2d, TakesTheNearestPixel) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {1, 2, 2, 1}, "BSSC");
  const Tensor y = resize2d(x, {.factor = 2});
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
  EXPECT_EQ(y.labels(), "BSSC");
  const Tensor line = Tensor::from<float>({0, 1, 2, 3, 4}, {1, 1, 5, 1});
  EXPECT_EQ(resize2d(line, {.size = {1, 3}}).to_vector<float>(), (Floats{0, 2, 4}));  // PyTorch's nearest: 0, 1, 3
  EXPECT_EQ(resize2d(line, {.factor = {1, 0.5}}).to_vector<float>(), (Floats{1, 3}));
}

TEST(Resize2d, BlendsNeighbours) {
  const Tensor x = Tensor::from<float>({0, 4}, {1, 1, 2, 1});
  const auto along = [&](Pair size, bool corners) {
    return resize2d(x, {.size = size, .method = "bilinear", .align_corners = corners}).to_vector<float>();
  };
  EXPECT_EQ(along({1, 4}, false), (Floats{0, 1, 3, 4}));
  EXPECT_EQ(along({1, 5}, true), (Floats{0, 1, 2, 3, 4}));
  EXPECT_EQ(along({2, 1}, false), (Floats{2, 2}));
  EXPECT_EQ(along({2, 1}, true), (Floats{0, 0}));
}

TEST(Resize2d, ReadsNoPixelOfWeight0) {
  const Tensor x = Tensor::from<float>({1, NAN, 3}, {1, 1, 3, 1});
  const Floats y = resize2d(x, {.size = {1, 3}, .method = "bilinear"}).to_vector<float>();
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[2], 3);
}

// Each output is in the gradient of its sources, whatever the sizes: sums of the weights of all pixels.
TEST(Resize2d, GradientsOfAllSizesAddUp) {
  for (const char* method : {"nearest", "bilinear"})
    for (const bool corners : {false, true})
      for (int64_t in = 1; in <= 9; ++in)
        for (int64_t out = 1; out <= 13; ++out) {
          if (corners && method[0] == 'n') continue;
          const Tensor x = Tensor::zeros({1, in, 1, 1}, DType::f64);
          const Tensor y = resize2d(x, {.size = {out, 1}, .method = method, .align_corners = corners});
          const Tensor dx = gradients(sum(y), std::vector<Tensor>{x})[0];
          const Tensor narrow = Tensor::zeros({1, in, 1, 1});
          const Tensor made = resize2d(narrow, {.size = {out, 1}, .method = method, .align_corners = corners});
          const auto f32 = gradients(sum(made), std::vector<Tensor>{narrow})[0].to_vector<float>();
          const auto f64 = dx.to_vector<double>();
          for (size_t i = 0; i < f32.size(); ++i)
            EXPECT_NEAR(f32[i], f64[i], 1e-5) << method << corners << in << " " << out << " " << i;
          EXPECT_NEAR(sum(dx).number(), static_cast<double>(out), 1e-9);
        }
}

TEST(Resize2d, SaysWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({1, 4, 4, 2});
  const auto text = [&](const Resize2dOptions& options) {
    return error_text([&] { resize2d(x, options, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text({.factor = 2, .method = "linear"}),
            "error[RT0277]: resize2d: there is no method \"linear\"\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[1,4,4,2]\n"
            "  expected: nearest or bilinear\n"
            "  help:     did you mean bilinear?");
  EXPECT_EQ(text({}),
            "error[RT0277]: resize2d: no size and no factor are given\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[1,4,4,2]\n"
            "  expected: one of them\n"
            "  help:     resize2d(x, {.factor = 2}), or resize2d(x, {.size = {48, 64}})");
  EXPECT_NE(text({.size = 2, .factor = 2}).find("a size and a factor are given"), std::string::npos);
  EXPECT_NE(text({.factor = 2, .align_corners = true}).find("align_corners says nothing"), std::string::npos);
  EXPECT_NE(text({.factor = 0.1}).find("the factor 0.1 makes 0 pixels of 4"), std::string::npos);
  EXPECT_NE(text({.factor = NAN}).find("RT0277"), std::string::npos);
  EXPECT_EQ(text({.size = {0, 3}}),
            "error[RT0278]: resize2d: the result is 0 x 3 pixels\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[1,4,4,2]\n"
            "  expected: 1 to 32768 in height and width");
  EXPECT_NE(error_text([] { resize2d(Tensor::zeros({4, 4, 1}), {.factor = 2}); }).find("RT0133"), std::string::npos);
  EXPECT_NE(error_text([] { resize2d(Tensor::zeros({1, 0, 4, 1}), {.size = 2}); }).find("x is 0 x 4 pixels"),
            std::string::npos);
  EXPECT_EQ(infer_error("resize2d_gradient", {{"rule", int64_t{0}}, {"size", Shape{4, 4}}},
                        {{DType::i32, {1, 3, 3, 1}, {}, {}}}),
            "error[RT0131]: resize2d_gradient: dy is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      dy i32[1,3,3,1]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(dy, DType::f32)");
}

}  // namespace
}  // namespace retrace
