#include "retrace/ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OpCase attention_case(const char* name, Shape q, Shape k, Shape v, AttentionOptions options = {}) {
  return {.op = "softmax",
          .name = std::string("of_attention_") + name,
          .inputs = {{.shape = q}, {.shape = k}, {.shape = v}},
          .build =
              [options](const std::vector<Tensor>& in) { return std::vector{attention(in[0], in[1], in[2], options)}; },
          .bound = {.ulp = 8, .relative = 4e-6, .tiny = true},
          .gradient = {.ulp = 8, .relative = 4e-5, .tiny = true}};
}

OP_EXAMPLE(attention, attention(Tensor::ones({1, 1, 2, 2}), Tensor::ones({1, 1, 2, 2}),
                                reshape(Tensor::arange(4), {1, 1, 2, 2}), {.causal = true}));

OP_CASES(attention) {
  std::vector<OpCase> cases{
      attention_case("one_head", {5, 4}, {7, 4}, {7, 3}),
      attention_case("heads", {2, 3, 5, 4}, {2, 3, 6, 4}, {2, 3, 6, 4}),
      attention_case("causal", {2, 2, 6, 4}, {2, 2, 6, 4}, {2, 2, 6, 4}, {.causal = true}),
      attention_case("grouped_queries", {2, 4, 5, 3}, {2, 2, 5, 3}, {2, 2, 5, 3}, {.causal = true, .scale = 0.5}),
      attention_case("one_head_of_keys", {3, 5, 4}, {1, 5, 4}, {1, 5, 4}),
      attention_case("one_position", {2, 1, 4}, {2, 1, 4}, {2, 1, 2}, {.causal = true})};
  OpCase masked = attention_case("masked", {2, 2, 3, 4}, {2, 2, 4, 4}, {2, 2, 4, 4});
  masked.build = [](const std::vector<Tensor>& in) {
    const Tensor mask = Tensor::from<bool>({true, false, true, true, true, true, false, false}, {2, 1, 1, 4});
    return std::vector{attention(in[0], in[1], in[2], mask)};
  };
  cases.push_back(masked);
  return cases;
}

Tensor numbers(const Shape& shape, double from) {
  std::vector<float> all;
  for (int64_t i = 0; i < shape.count(); ++i)
    all.push_back(static_cast<float>(std::sin(from + static_cast<double>(i))));
  return Tensor::from(all, shape);
}

TEST(Attention, IsAWeightedMeanOfValues) {
  // Scores ln 1 and ln 3 for a scale of 1: shares of 1/4 and 3/4.
  const Tensor q = Tensor::from<float>({1}, {1, 1}), v = Tensor::from<float>({0, 8}, {2, 1});
  const Tensor k = Tensor::from<float>({0, std::log(3.0f)}, {2, 1});
  EXPECT_NEAR(attention(q, k, v, {.scale = 1.0}).number(), 6, 1e-5);
}

TEST(Attention, CausalQueriesDoNotDependOnWhatComesLater) {
  const Tensor q = numbers({2, 6, 4}, 1), k = numbers({2, 6, 4}, 2), v = numbers({2, 6, 4}, 3);
  const Tensor whole = attention(q, k, v, {.causal = true});
  for (int64_t n = 1; n <= 6; ++n) {
    const auto first = [&](const Tensor& x) { return slice(x, 1, {0, n}); };
    EXPECT_EQ(attention(first(q), first(k), first(v), {.causal = true}).to_vector<float>(),
              first(whole).to_vector<float>())
        << n;
  }
}

TEST(Attention, HeadsThatShareKeysHaveTheBitsOfCopies) {
  const Tensor q = numbers({4, 5, 3}, 1), k = numbers({2, 5, 3}, 2), v = numbers({2, 5, 3}, 3);
  EXPECT_EQ(attention(q, k, v, {.causal = true}).to_vector<float>(),
            attention(q, repeat_interleave(k, 0, 2), repeat_interleave(v, 0, 2), {.causal = true}).to_vector<float>());
}

TEST(Attention, AMaskAndCausalHoldTogether) {
  const Tensor q = numbers({3, 4}, 1), k = numbers({3, 4}, 2), v = numbers({3, 4}, 3);
  const Tensor mask = Tensor::from<bool>({true, false, true, true, true, true, true, true, true}, {3, 3});
  EXPECT_EQ(attention(q, k, v, mask, {.causal = true}).to_vector<float>(),
            attention(q, k, v, {.causal = true}).to_vector<float>());
  const Tensor none = Tensor::full(0, {3}, DType::boolean);
  for (const float y : attention(q, k, v, none).to_vector<float>()) EXPECT_TRUE(std::isnan(y));
}

TEST(Attention, SaysWhatDoesNotFit) {
  const auto text = [](Shape q, Shape k, Shape v, AttentionOptions options = {}) {
    return error_text(
        [&] { attention(Tensor::zeros(q), Tensor::zeros(k), Tensor::zeros(v), options, {"gpt.cpp", 7}); });
  };
  EXPECT_EQ(text({3, 5, 4}, {2, 5, 4}, {2, 5, 4}),
            "error[RT0211]: attention: 3 heads of q meet 2 of k and 2 of v\n"
            "  where:    gpt.cpp:7\n"
            "  got:      q f32[3,5,4], k f32[2,5,4], v f32[2,5,4]\n"
            "  expected: as many of k as of v, a divisor of those of q");
  EXPECT_NE(text({5, 4}, {5, 3}, {5, 4}).find("q and k have different depths"), std::string::npos);
  EXPECT_NE(text({5, 4}, {6, 4}, {5, 4}).find("k and v differ in length"), std::string::npos);
  EXPECT_NE(text({5, 4}, {6, 4}, {6, 4}, {.causal = true}).find("causal, with 5 queries and 6 keys"),
            std::string::npos);
  EXPECT_NE(text({4}, {4}, {4}).find("other axes"), std::string::npos);
  EXPECT_NE(error_text([] {
              attention(Tensor::zeros({2, 2}), Tensor::zeros({2, 2}, DType::f64), Tensor::zeros({2, 2}));
            }).find("the types of q, k and v do not fit"),
            std::string::npos);
  const Tensor x = Tensor::zeros({2, 2});
  EXPECT_NE(error_text([&] { attention(x, x, x, x); }).find("the mask is f32"), std::string::npos);
}

}  // namespace
}  // namespace retrace
