#include "retrace/ops/glu/glu.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(glu, glu(Tensor::from<float>({1, 2, 0, 10}, {1, 4})));

OP_CASES(glu) {
  const auto with = [](const char* name, Shape shape, const char* labels, Axes axis) {
    return OpCase{.op = "sigmoid",
                  .name = name,
                  .inputs = {{.shape = shape, .labels = labels}},
                  .build = [=](const std::vector<Tensor>& in) { return std::vector{glu(in[0], axis)}; },
                  .bound = {.ulp = 4, .tiny = true}};
  };
  return {with("of_halves", {3, 10}, "BC", {}), with("of_halves_along_0", {4, 5}, "", 0)};
}

TEST(Glu, GatesTheFirstHalfByTheSecond) {
  const auto y = glu(Tensor::from<float>({4, -6, 0, 100}, {1, 4})).to_vector<float>();
  EXPECT_EQ(y, (std::vector<float>{2, -6}));
  EXPECT_NE(error_text([] { glu(Tensor::zeros({2, 3})); }), "");
}

}  // namespace
}  // namespace retrace
