#include "retrace/ops/rotary_embedding/rotary_embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(rotary_embedding, rotary_embedding(Tensor::from<float>({1, 0, 1, 0, 1, 0}, {3, 2})));
OP_EXAMPLE(rotary_embedding_interleaved,
           rotary_embedding(Tensor::ones({1, 4}), {.base = 100, .first = 2, .interleaved = true}));

OP_CASES(rotary_embedding) {
  const auto with = [](const char* name, Shape x, RotaryEmbeddingOptions options, const char* labels = "") {
    return OpCase{.op = "rotary_embedding",
                  .name = name,
                  .inputs = {{.shape = x, .labels = labels}},
                  .build = [=](const auto& in) { return std::vector{rotary_embedding(in[0], options)}; },
                  .bound = {.ulp = 1, .relative = 4e-7}};
  };
  return {with("halves", {2, 7, 6}, {}, "BTC"),
          with("interleaved", {2, 7, 6}, {.interleaved = true}, "BTC"),
          with("heads", {2, 3, 9, 16}, {.base = 500}),
          with("interleaved_heads", {2, 3, 9, 16}, {.base = 500, .interleaved = true}),
          with("goes_on", {1, 2, 8}, {.first = 1000}),
          with("two_axes", {5, 2}, {.interleaved = true}),
          with("long", {1, 300, 34}, {}),
          with("empty_batch", {0, 3, 4}, {}),
          with("no_features", {2, 3, 0}, {})};
}

using Floats = std::vector<float>;

TEST(RotaryEmbedding, TurnsPairsByTheirPosition) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 1, 2, 3, 4}, {1, 2, 4}, "BTC");
  const double c0 = std::cos(5.0), s0 = std::sin(5.0), c1 = std::cos(0.5), s1 = std::sin(0.5);
  const double c2 = std::cos(6.0), s2 = std::sin(6.0), c3 = std::cos(0.6), s3 = std::sin(0.6);
  const auto expect = [](const Tensor& y, const std::vector<double>& wanted) {
    EXPECT_EQ(y.labels(), "BTC");
    const auto found = y.to_vector<float>();
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-6) << i;
  };
  expect(rotary_embedding(x, {.base = 100, .first = 5}), {c0 - 3 * s0, 2 * c1 - 4 * s1, 3 * c0 + s0, 4 * c1 + 2 * s1,
                                                          c2 - 3 * s2, 2 * c3 - 4 * s3, 3 * c2 + s2, 4 * c3 + 2 * s3});
  expect(rotary_embedding(x, {.base = 100, .first = 5, .interleaved = true}),
         {c0 - 2 * s0, 2 * c0 + s0, 3 * c1 - 4 * s1, 4 * c1 + 3 * s1, c2 - 2 * s2, 2 * c2 + s2, 3 * c3 - 4 * s3,
          4 * c3 + 3 * s3});
}

// A sequence that goes on has the bits of the whole one.
TEST(RotaryEmbedding, GoesOnWhereTheSequenceEnded) {
  const Tensor x = reshape(Tensor::arange(2 * 9 * 8), {2, 9, 8});
  for (const bool interleaved : {false, true}) {
    const Tensor whole = rotary_embedding(x, {.interleaved = interleaved});
    const Tensor rest = rotary_embedding(slice(x, 1, {4, 9}), {.first = 4, .interleaved = interleaved});
    EXPECT_EQ(rest.to_vector<float>(), slice(whole, 1, {4, 9}).to_vector<float>());
    EXPECT_EQ(slice(whole, 1, {0, 1}).to_vector<float>(), slice(x, 1, {0, 1}).to_vector<float>());
  }
}

TEST(RotaryEmbedding, KeepsProductsOfEqualDistance) {
  const Tensor q = Tensor::from<float>({0.5f, -1, 2, 0.25f}, {1, 4}), k = Tensor::from<float>({1, 3, -2, 0.5f}, {1, 4});
  const auto product = [&](int64_t at, int64_t of) {
    return sum(rotary_embedding(q, {.first = at}) * rotary_embedding(k, {.first = of})).number();
  };
  EXPECT_NEAR(product(7, 3), product(104, 100), 1e-5);
  EXPECT_GT(std::abs(product(7, 3) - product(7, 4)), 1e-2);
}

TEST(RotaryEmbedding, SaysWhatDoesNotFit) {
  const auto text = [](const Tensor& x, const RotaryEmbeddingOptions& options = {}) {
    return error_text([&] { rotary_embedding(x, options, {"model.cpp", 7}); });
  };
  EXPECT_EQ(text(Tensor::zeros({2, 5, 3})),
            "error[RT0435]: rotary_embedding: 3 features are no pairs\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,5,3]\n"
            "  expected: an even number of features");
  EXPECT_NE(text(Tensor::zeros({4})).find("x is no sequence"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 4}, DType::i32)).find("x is no sequence"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 5, 5, 4}, DType::f32, "BSSC")).find("x is no sequence"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 4}), {.base = 0}).find("the base is 0"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 4}), {.first = -1}).find("2 positions from -1 on"), std::string::npos);
  EXPECT_NE(text(Tensor::zeros({2, 4}), {.first = 1 << 30}).find("positions from 0 to 2^30"), std::string::npos);
  const TensorSpec x{DType::f32, {5, 4}, {}, {}}, table{DType::f32, {5, 4}, {}, {}};
  EXPECT_NE(infer_error("rotary_embedding", {{"interleaved", 0}}, {x, table, table}).find("cosine and sine do not fit"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
