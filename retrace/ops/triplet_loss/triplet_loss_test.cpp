#include "retrace/ops/triplet_loss/triplet_loss.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(triplet_loss, triplet_loss(Tensor::from<float>({0, 0}, {1, 2}), Tensor::from<float>({3, 4}, {1, 2}),
                                      Tensor::from<float>({0, 5.5}, {1, 2})));

OP_CASES(triplet_loss) {
  const CaseInput near{.shape = {5, 7}, .low = -1, .high = 1, .labels = "BC"};
  return {
      {.op = "relu",
       .name = "of_triplets",
       .inputs = {near, near, near},
       .build =
           [](const std::vector<Tensor>& in) { return std::vector{triplet_loss(in[0], in[1], in[2], {.margin = 5})}; },
       .bound = {.ulp = 8, .relative = 4e-6},
       .gradient = {.ulp = 8, .relative = 1e-5, .tiny = true}}};
}

TEST(TripletLoss, IsZeroBeyondTheMargin) {
  const Tensor a = Tensor::from<float>({0, 0, 0, 0}, {2, 2}), p = Tensor::from<float>({3, 4, 1, 0}, {2, 2}),
               n = Tensor::from<float>({0, 4.5, 0, 9}, {2, 2});
  EXPECT_NEAR(triplet_loss(a, p, n).item<float>(), 1.5 / 2, 1e-5);
  EXPECT_NEAR(triplet_loss(a, p, n, {.margin = 0}).item<float>(), 0.5 / 2, 1e-5);
  EXPECT_NE(error_text([&] { triplet_loss(a, p, Tensor::zeros({2, 3})); }).find("RT0550"), std::string::npos);
}

}  // namespace
}  // namespace retrace
