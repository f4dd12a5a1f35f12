#include "retrace/ops/quantile/quantile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

OP_EXAMPLE(quantile, quantile(Tensor::from<float>({4, 1, 3, 2, 0, 10}, {2, 3}), 0.75, 1));
OP_EXAMPLE(median, median(Tensor::from<float>({4, 1, 3, 2, 0, 10}, {2, 3})));

OP_CASES(quantile) {
  const auto with = [](const char* name, Shape shape, double q, Axes axis, bool keep, const char* labels = "") {
    return OpCase{
        .op = "argsort",
        .name = name,
        .inputs = {{.shape = shape, .labels = labels}},
        .build = [=](const std::vector<Tensor>& in) { return std::vector{quantile(in[0], q, axis, {.keep = keep})}; },
        .bound = {.ulp = 4, .relative = 1e-6}};
  };
  return {with("quantile_of_rows", {3, 8}, 0.3, 1, false), with("quantile_of_columns", {7, 5}, 0.5, "B", true, "BC"),
          with("quantile_of_all", {3, 4}, 0.9, {}, true)};
}

// numpy.quantile of the same numbers.
TEST(Quantile, InterpolatesBetweenNeighbours) {
  const Tensor x = Tensor::from<float>({4, 1, 3, 2, 0, 10, 6, 8}, {2, 4});
  EXPECT_EQ(quantile(x, 0.25, 1).to_vector<float>(), (Floats{1.75f, 4.5f}));
  EXPECT_EQ(quantile(x, 0, 0).to_vector<float>(), (Floats{0, 1, 3, 2}));
  EXPECT_EQ(quantile(x, 1, 0).to_vector<float>(), (Floats{4, 10, 6, 8}));
  EXPECT_EQ(median(x).item<float>(), 3.5f);
  EXPECT_EQ(median(x, 1, {.keep = true}).shape(), (Shape{2, 1}));
  EXPECT_EQ(median(x, {}, {.keep = true}).shape(), (Shape{1, 1}));
  EXPECT_EQ(median(Tensor::from<float>({3, 1, 2}, {3})).item<float>(), 2);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(median(Tensor::from<float>({-infinity, 2}, {2})).item<float>(), -infinity);
  EXPECT_TRUE(std::isnan(quantile(Tensor::from<float>({1, NAN, 2}, {3}), 0).item<float>()));
}

TEST(Quantile, ArgumentsAreChecked) {
  EXPECT_NE(error_text([] { quantile(Tensor::zeros({3}), 1.5); }).find("error[RT0542]: quantile: q is 1.5"),
            std::string::npos);
  EXPECT_NE(error_text([] { median(Tensor::zeros({0})); }).find("the axis has no elements"), std::string::npos);
  EXPECT_NE(error_text([] { median(Tensor::zeros({2, 3}), {0, 1}); }), "");
}

}  // namespace
}  // namespace retrace
