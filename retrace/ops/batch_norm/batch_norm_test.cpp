#include "retrace/ops/batch_norm/batch_norm.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/base/hash.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/reduce_reference.h"

namespace retrace {
namespace {

std::vector<Tensor> train(const std::vector<Tensor>& in) {
  const auto result = batch_norm(in[0], in[1], in[2]);
  return {result.y, result.moments["mean"], result.moments["m2"]};
}

OP_EXAMPLE(batch_norm,
           batch_norm(Tensor::from<float>({1, 10, 2, 20, 3, 30}, {3, 2}), Tensor::ones({2}), Tensor::zeros({2})).y);
OP_EXAMPLE(batch_norm_inference,
           batch_norm_inference(Tensor::from<float>({3, 5}, {1, 2}), Tensor::ones({2}), Tensor::zeros({2}),
                                Tensor::from<float>({1, 1}, {2}), Tensor::from<float>({4, 4}, {2})));

OP_CASES(batch_norm) {
  const auto with = [](const char* name, Shape x, const char* labels = "", const char* labels_of_scale = "") {
    const Shape channels{x.back()};
    return OpCase{.op = "batch_norm",
                  .name = name,
                  .inputs = {{.shape = x, .labels = labels},
                             {.shape = channels, .low = 0.5, .labels = labels_of_scale},
                             {.shape = channels}},
                  .build = train,
                  .bound = {.ulp = 8, .relative = 2e-6},
                  .gradient = {.ulp = 8, .relative = 2e-5, .tiny = true}};
  };
  std::vector<OpCase> cases{with("unlabelled", {50, 5}),
                            with("labelled", {4, 6, 6, 16}, "BSSC"),
                            with("labelled_scale", {4, 6, 6, 3}, "BSSC", "C"),
                            with("one_channel", {40, 1}),
                            with("many_positions", {3, 40, 40, 8}),
                            with("wide", {20, 300}),
                            with("features", {33, 10}, "BC", "C")};
  for (auto one : {with("one_position", {1, 4}), with("empty", {0, 4})})
    one.differentiable = false, cases.push_back(one);
  for (const char* labels : {"", "BSSC"}) {
    OpCase one = with(*labels ? "labelled" : "unlabelled", {3, 4, 4, 5}, labels);
    one.op = "batch_norm_inference";
    one.inputs.push_back({.shape = {5}});
    one.inputs.push_back({.shape = {5}, .low = 0.1, .labels = *labels ? "C" : ""});
    one.build = [](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{batch_norm_inference(in[0], in[1], in[2], in[3], in[4])};
    };
    cases.push_back(one);
  }
  return cases;
}

std::vector<float> numbers(size_t count, uint64_t seed, float low = -2, float high = 2) {
  std::vector<float> x;
  for (size_t i = 0; i < count; ++i)
    x.push_back(low + (high - low) * static_cast<float>(mix64(hash_combine(seed, i)) >> 40) * 0x1p-24f);
  return x;
}

void expect_bits(const std::vector<float>& is, const std::vector<float>& wanted, const std::string& what) {
  ASSERT_EQ(is.size(), wanted.size()) << what;
  for (size_t i = 0; i < is.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(is[i]), std::bit_cast<uint32_t>(wanted[i])) << what << " " << i;
}

// The sequence of batch_norm.h, one operation a line.
struct Literal {
  std::vector<float> y, mean, m2, dx, dscale, doffset;
};

Literal literal(const std::vector<float>& x, const std::vector<float>& scale, const std::vector<float>& offset,
                const std::vector<float>& dy) {
  const size_t channels = scale.size(), count = x.size() / channels;
  const auto n = static_cast<float>(count);
  Literal out{std::vector<float>(x.size()), {}, {}, std::vector<float>(x.size()), {}, {}};
  for (size_t c = 0; c < channels; ++c) {
    std::vector<float> column, column_dy, products;
    for (size_t p = 0; p < count; ++p) column.push_back(x[p * channels + c]), column_dy.push_back(dy[p * channels + c]);
    const auto pair = reference::column_moments(column);
    const float variance = pair.m2 / n;
    const float shifted = variance + static_cast<float>(1e-5);
    const float root = std::sqrt(shifted);
    const float inv = 1 / root;
    const float factor = inv * scale[c];
    for (size_t p = 0; p < count; ++p) {
      const float centred = column[p] - pair.mean, product = centred * factor, xhat = centred * inv;
      out.y[p * channels + c] = product + offset[c];
      products.push_back(column_dy[p] * xhat);
    }
    const float doffset = reference::column_sum(column_dy), dscale = reference::column_sum(products);
    const float mean_dy = doffset / n, mean_product = dscale / n;
    for (size_t p = 0; p < count; ++p) {
      const float centred = column[p] - pair.mean, xhat = centred * inv;
      const float first = column_dy[p] - mean_dy, second = xhat * mean_product, difference = first - second;
      out.dx[p * channels + c] = factor * difference;
    }
    out.mean.push_back(pair.mean), out.m2.push_back(pair.m2), out.dscale.push_back(dscale),
        out.doffset.push_back(doffset);
  }
  return out;
}

TEST(BatchNorm, HasTheWrittenSequenceOfRoundings) {
  for (const Shape& shape : {Shape{4, 7, 7, 16}, Shape{33, 10}, Shape{2, 30, 30, 3}}) {
    const auto channels = static_cast<size_t>(shape.back()), size = static_cast<size_t>(shape.count());
    const auto x = numbers(size, 1), scale = numbers(channels, 2), offset = numbers(channels, 3), dy = numbers(size, 4);
    const auto wanted = literal(x, scale, offset, dy);
    const Tensor weights = Tensor::from(dy, shape);
    const auto step = value_and_grad([&](const Tree& p) {
      const auto result = batch_norm(p["x"], p, Tree(), Phase::train);
      return WithAux{sum(result.y * weights), Tree{{"y", result.y}, {"moments", result.moments}}};
    });
    const Tree parameters{{"x", Tensor::from(x, shape)},
                          {"scale", Tensor::from(scale, {shape.back()})},
                          {"offset", Tensor::from(offset, {shape.back()})}};
    const auto [value, gradients, aux] = step(parameters);
    expect_bits(aux["y"].tensor().to_vector<float>(), wanted.y, "y");
    expect_bits(aux["moments"]["mean"].tensor().to_vector<float>(), wanted.mean, "mean");
    expect_bits(aux["moments"]["m2"].tensor().to_vector<float>(), wanted.m2, "m2");
    EXPECT_EQ(aux["moments"]["count"].tensor().item<int32_t>(), static_cast<int32_t>(size / channels));
    expect_bits(gradients["x"].tensor().to_vector<float>(), wanted.dx, "dx");
    expect_bits(gradients["scale"].tensor().to_vector<float>(), wanted.dscale, "dscale");
    expect_bits(gradients["offset"].tensor().to_vector<float>(), wanted.doffset, "doffset");
  }
}

TEST(BatchNorm, InferenceReadsTheStateAndTrainingDoesNot) {
  const Tensor x = Tensor::from<float>({1, 3, 5, 11}, {4, 1}, "BC");
  const Tree parameters{{"scale", Tensor::from<float>({2}, {1})}, {"offset", Tensor::from<float>({7}, {1})}};
  const Tree state{{"mean", Tensor::from<float>({1}, {1})}, {"variance", Tensor::from<float>({4}, {1})}};
  const auto inference = batch_norm(x, parameters, state, Phase::inference, {.epsilon = 0});
  EXPECT_EQ(inference.y.to_vector<float>(), (std::vector<float>{7, 9, 11, 17}));
  EXPECT_TRUE(inference.moments.empty());
  const auto train = batch_norm(x, parameters, state, Phase::train),
             without = batch_norm(x, parameters, Tree(), Phase::train);
  EXPECT_EQ(train.y.to_vector<float>(), without.y.to_vector<float>());
  EXPECT_EQ(train.moments.mark(), "moments");
  EXPECT_EQ(train.moments["mean"].tensor().item<float>(), 5.0f);
  EXPECT_EQ(train.moments["m2"].tensor().item<float>(), 56.0f);
}

TEST(BatchNorm, WrongArgumentsAreErrors) {
  const Tensor x = Tensor::zeros({4, 3}), three = Tensor::zeros({3}), two_numbers = Tensor::zeros({2});
  EXPECT_EQ(error_text([&] { batch_norm(Tensor::zeros({4, 3}, DType::i32), three, three, {}, {"model.cpp", 7}); }),
            "error[RT0131]: batch_norm: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[4,3]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_EQ(error_text([&] { batch_norm(x, three, Tensor::zeros({3}, DType::f64), {}, {"model.cpp", 7}); }),
            "error[RT0132]: batch_norm: the arguments have the types f32 and f64\n"
            "  where:    model.cpp:7\n"
            "  got:      f32[4,3] and offset f64[3]\n"
            "  expected: one type\n"
            "  help:     cast(offset, DType::f32)");
  EXPECT_EQ(error_text([&] { batch_norm(three, three, three, {}, {"model.cpp", 7}); }),
            "error[RT0133]: batch_norm: x has 1 axes\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[3]\n"
            "  expected: two axes or more, the last of them the channels\n"
            "  help:     reshape x to [positions, channels]");
  EXPECT_EQ(error_text([&] { batch_norm(x, two_numbers, three, {}, {"model.cpp", 7}); }),
            "error[RT0135]: batch_norm: scale does not fit the 3 channels of x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[4,3], scale f32[2]\n"
            "  expected: the shape [3]");
  EXPECT_EQ(error_text([&] { batch_norm_inference(x, three, three, three, two_numbers, {}, {"model.cpp", 7}); }),
            "error[RT0135]: batch_norm_inference: variance does not fit the 3 channels of x\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[4,3], variance f32[2]\n"
            "  expected: the shape [3]");
  EXPECT_EQ(
      error_text([&] { batch_norm(Tensor::zeros({2, 3, 3}, DType::f32, "BCU"), three, three, {}, {"model.cpp", 7}); }),
      "error[RT0143]: batch_norm: the last axis of x is not labelled C\n"
      "  where:    model.cpp:7\n"
      "  got:      x f32[2,3,3] \"BCU\"\n"
      "  expected: channels on the last axis");
  EXPECT_EQ(error_text([&] { batch_norm(broadcast(x, {1 << 29, 4, 3}), three, three, {}, {"model.cpp", 7}); }),
            "error[RT0144]: batch_norm: 2147483648 positions are too many to count\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[536870912,4,3]\n"
            "  expected: fewer than 2^31 positions");
  (x + x).data();  // what was recorded of the large tensor is dropped
  const auto missing = error_text([&] { batch_norm(x, Tree{{"scale", three}}, Tree(), Phase::train); });
  EXPECT_NE(missing.find("\"offset\""), std::string::npos) << missing;
}

Tree moments_of(const std::vector<float>& x, int64_t channels) {
  const Tensor ones = Tensor::full(1, {channels});
  return batch_norm(Tensor::from(x, {static_cast<int64_t>(x.size()) / channels, channels}), ones, ones).moments;
}

TEST(UpdateStatistics, BlendsTheBatchIntoTheState) {
  const Tree moments{{"norm1", moments_of({1, 2, 3, 6}, 1)}};
  const Tree state{
      {"norm1", Tree{{"mean", Tensor::from<float>({2}, {1})}, {"variance", Tensor::from<float>({1}, {1})}}},
      {"norm2", Tree{{"mean", Tensor::from<float>({5}, {1})}}}};
  const Tree by_default = update_statistics(state, moments);
  EXPECT_EQ(by_default["norm1"]["mean"].tensor().item<float>(), 0.1f * 3.0f + (1.0f - 0.1f) * 2.0f);
  EXPECT_EQ(by_default["norm1"]["variance"].tensor().item<float>(), 0.1f * 3.5f + (1.0f - 0.1f) * 1.0f);
  EXPECT_EQ(by_default["norm2"]["mean"].tensor().item<float>(), 5.0f);
  const Tree other = update_statistics(state, moments, {.mean_decay = 0.5, .variance_decay = 1});
  EXPECT_EQ(other["norm1"]["mean"].tensor().item<float>(), 2.5f);
  EXPECT_EQ(other["norm1"]["variance"].tensor().item<float>(), 3.5f);
}

TEST(UpdateStatistics, StoresNoSubnormalNumbers) {
  const Tree moments = moments_of({0, 0}, 1);
  const Tree state{{"mean", Tensor::from<float>({-0x1p-126f}, {1})},
                   {"variance", Tensor::from<float>({0x1.8p-126f}, {1})}};
  const Tree updated = update_statistics(state, moments);
  EXPECT_EQ(std::bit_cast<uint32_t>(updated["mean"].tensor().item<float>()), 0u);  // +0, not -0.9 * 2^-126
  EXPECT_GT(updated["variance"].tensor().item<float>(), 0x1p-126f);
}

TEST(UpdateStatistics, ANormThatTheStateLacksIsNamed) {
  const Tree moments{{"norm1", moments_of({1, 2}, 1)}};
  const auto text = error_text([&] { update_statistics(Tree{{"norm2", Tree()}}, moments); });
  EXPECT_NE(text.find("\"norm1\""), std::string::npos) << text;
}

TEST(MergeMoments, OfAlignedPartsIsTheMomentsOfTheWhole) {
  const auto x = numbers(96 * 3, 9);  // 64 positions are an aligned subtree of 96
  const std::vector<float> front(x.begin(), x.begin() + 64 * 3), back(x.begin() + 64 * 3, x.end());
  const Tree whole{{"n", moments_of(x, 3)}};
  const Tree merged = merge_moments(Tree{{"n", moments_of(front, 3)}}, Tree{{"n", moments_of(back, 3)}});
  EXPECT_EQ(merged["n"].mark(), "moments");
  EXPECT_EQ(merged["n"]["count"].tensor().item<int32_t>(), 96);
  for (const char* name : {"mean", "m2"})
    expect_bits(merged["n"][name].tensor().to_vector<float>(), whole["n"][name].tensor().to_vector<float>(), name);
}

TEST(MergeMoments, FollowsTheFormulaForUnequalCounts) {
  const auto x = numbers(7, 10), y = numbers(5, 11);
  const auto a = reference::column_moments(x), b = reference::column_moments(y), wanted = reference::merge(a, b);
  const Tree merged = merge_moments(moments_of(x, 1), moments_of(y, 1));
  expect_bits(merged["mean"].tensor().to_vector<float>(), {wanted.mean}, "mean");
  expect_bits(merged["m2"].tensor().to_vector<float>(), {wanted.m2}, "m2");
  EXPECT_NE(error_text([&] { merge_moments(Tree{{"a", moments_of(x, 1)}}, Tree{{"b", moments_of(y, 1)}}); }), "");
}

}  // namespace
}  // namespace retrace
