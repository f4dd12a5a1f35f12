#include "retrace/ops/cosine_similarity/cosine_similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(cosine_similarity,
           cosine_similarity(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), Tensor::from<float>({1, 1, 3, 7}, {2, 2})));
OP_EXAMPLE(cosine_loss,
           cosine_loss(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), Tensor::from<float>({1, 1, 3, 7}, {2, 2})));

// With b's square beside it: the cosines do not depend on the length of vectors of one number, and 0 has no relative
// error.
OpCase beside(OpCase one) {
  one.build = [build = one.build](const std::vector<Tensor>& in) {
    auto results = build(in);
    results.push_back(in[1] * in[1]);
    return results;
  };
  return one;
}

OP_CASES(cosine_similarity) {
  const auto with = [](const char* name, Shape a, Shape b, CosineOptions options = {}, const char* labels = "") {
    return OpCase{.op = "divide",
                  .name = name,
                  .inputs = {{.shape = a, .labels = labels}, {.shape = b, .labels = labels}},
                  .build =
                      [=](const std::vector<Tensor>& in) {
                        return std::vector{cosine_similarity(in[0], in[1], options),
                                           cosine_loss(in[0], in[1], options)};
                      },
                  .bound = {.ulp = 8, .relative = 4e-6},
                  .gradient = {.ulp = 8, .relative = 1e-5, .tiny = true}};
  };
  return {with("of_cosines", {7, 10}, {7, 10}),
          with("of_cosines_images", {3, 4, 2, 5}, {3, 4, 2, 5}, {}, "BSSC"),
          with("of_cosines_along_0", {6, 5}, {6, 5}, {.axis = 0}),
          with("of_cosines_one_vector", {7, 10}, {10}),
          beside(with("of_cosines_stretched_along_the_axis", {1, 4, 3}, {2, 1, 3}, {.axis = 1})),
          beside(with("of_cosines_without_the_axis", {7, 5}, {5}, {.axis = 0}))};
}

TEST(CosineSimilarity, IsThatOfPyTorch) {
  const Tensor a = Tensor::from<float>({1, 2, 3, 0, 0, 0}, {2, 3}),
               b = Tensor::from<float>({3, -1, 2, 1, 1, 1}, {2, 3});
  const auto y = cosine_similarity(a, b).to_vector<float>();
  EXPECT_NEAR(y[0], 0.5, 1e-6);
  EXPECT_EQ(y[1], 0);
  EXPECT_NEAR(cosine_loss(a, b).item<float>(), 0.75, 1e-6);
}

// The vectors are those of the arrays as they are multiplied: (2, 2) beside (1, 3), of length sqrt(8).
TEST(CosineSimilarity, StretchesTheVectorsBeforeTheirLength) {
  const Tensor a = Tensor::from<float>({2}, {1, 1}), b = Tensor::from<float>({1, 3}, {1, 2});
  EXPECT_NEAR(cosine_similarity(a, b).item<float>(), 8 / std::sqrt(80.0), 1e-6);
  const Tensor row = Tensor::from<float>({2, 5}, {2}), columns = Tensor::from<float>({1, 1, 1, 3}, {2, 2});
  const auto y = cosine_similarity(columns, row, {.axis = 0}).to_vector<float>();
  EXPECT_NEAR(y[0], 1, 1e-6);
  EXPECT_NEAR(y[1], 20 / (5 * std::sqrt(2.0) * std::sqrt(10.0)), 1e-6);
}

TEST(CosineSimilarity, ArgumentsAreChecked) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_NE(error_text([&] { cosine_similarity(x, x, {.epsilon = -1}); }).find("RT0267"), std::string::npos);
  EXPECT_NE(error_text([&] { cosine_similarity(x, x, {.axis = 2}); }), "");
  EXPECT_NE(error_text([&] { cosine_similarity(x, Tensor::zeros({2, 4})); }), "");
}

}  // namespace
}  // namespace retrace
