#include "retrace/ops/prod/prod.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case_run.h"
#include "retrace/ops/testing/reduce_cases.h"

namespace retrace {
namespace {

OpCase product_case(const char* name, Shape shape, Reduced how, const char* labels = "") {
  return {
      .op = "multiply",
      .name = std::string("of_prod_") + name,
      .inputs = {{.shape = shape, .low = 0.75, .high = 1.25, .labels = labels}},
      .build = [how](const std::vector<Tensor>& in) { return std::vector{prod(in[0], how.axes, {.keep = how.keep})}; },
      .bound = {.ulp = 64, .tiny = true},
      .gradient = {.ulp = 128, .relative = 1e-5, .tiny = true}};
}

OP_EXAMPLE(prod, prod(Tensor::from<float>({1, 5, 2, 7, 0, 3}, {2, 3}), 1));

OP_CASES(prod) {
  std::vector<OpCase> cases{product_case("all", {3, 5, 7}, {}), product_case("row", {5, 37}, {.axes = {-1}}),
                            product_case("column", {64, 5}, {.axes = {0}}),
                            product_case("middle", {3, 13, 4}, {.axes = {1}, .keep = true}),
                            product_case("labelled", {6, 3, 3, 5}, {.axes = {1, 2}}, "BSSC")};
  OpCase zeros = product_case("zeros", {4, 5}, {.axes = {1}});
  zeros.inputs[0].values = {2, 0, 3, -1, 0.5, 1, 2, 3, 4, 5, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0};
  cases.push_back(zeros);
  OpCase exact = product_case("exact", {3, 3}, {.axes = {1}});
  const double infinity = __builtin_inf(), nan = __builtin_nan("");
  exact.inputs[0].values = {2, -3, 0.5, infinity, 0.0, 1, -infinity, -2, 1};
  exact.expected = {-3, nan, infinity};
  exact.differentiable = false;
  cases.push_back(exact);
  OpCase integers = product_case("integers", {5}, {});
  integers.inputs = {{.shape = {5}, .type = DType::i32, .values = {3, -5, 7, 65537, 65537}}};
  integers.expected = {-105.0 * 131073};
  integers.differentiable = false;
  cases.push_back(integers);
  return cases;
}

TEST(Prod, MultipliesTheHalves) {
  EXPECT_EQ(prod(Tensor::from<float>({2, 3, 5, 7, 11}, {5})).item<float>(), 2310);
  const auto bytes = Tensor::from<uint8_t>({200, 200}, {2});
  EXPECT_EQ(prod(bytes).item<int32_t>(), 40000);
  EXPECT_EQ(prod(Tensor::from<bool>({true, false}, {2})).item<int32_t>(), 0);
}

TEST(Prod, OfNothingIsOne) {
  EXPECT_EQ(prod(Tensor::zeros({0, 2}), 0).to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_EQ(prod(Tensor::zeros({2, 0}), 0).spec().text(), "f32[0]");
  EXPECT_EQ(prod(Tensor::from<float>({3}, Shape())).item<float>(), 3);
  EXPECT_EQ(prod(Tensor::zeros({2, 3}, DType::f32, "BC"), "C", {.keep = true}).spec().text(), "f32[2,1] \"BC\"");
}

}  // namespace
}  // namespace retrace
