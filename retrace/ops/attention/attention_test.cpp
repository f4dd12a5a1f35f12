#include "retrace/ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/plan/compile.h"
#include "retrace/trace/record.h"

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
  for (OpCase parts : {attention_case("in_parts", {520, 2}, {514, 2}, {514, 1}),
                       attention_case("in_parts_causal", {2, 514, 2}, {1, 514, 2}, {1, 514, 1}, {.causal = true})}) {
    parts.op = "checkpoint";
    cases.push_back(parts);
  }
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

// attention() as its contract states it, all scores at once: one head of q for each of k and v.
Tensor attention_at_once(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& seen) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.shape()[q.rank() - 1]));
  const Tensor scores = matmul(q * scale, k, {.transpose_b = true});
  return matmul(softmax(where(seen, scores, Tensor::full(-INFINITY, {})), -1), v);
}

// The value and the gradients of a weighted sum of f(q, k, v).
std::vector<std::vector<float>> with_gradients(const Tree& x, FunctionRef<Tensor(const Tree& x)> f) {
  const auto loss = [&](const Tree& in) -> Tensor {
    const Tensor y = f(in);
    return sum(y * numbers(y.shape(), 4));
  };
  const auto result = value_and_grad(loss)(x);
  std::vector<std::vector<float>> all{result.value.to_vector<float>()};
  for (const Tensor& each : leaf_tensors(result.gradients)) all.push_back(each.to_vector<float>());
  return all;
}

TEST(Attention, PartsOfLongSequencesHaveTheBitsOfTheWhole) {
  constexpr int64_t kLength = 1100;  // five parts, the last one of 76
  const Tensor count = Tensor::arange(kLength), mask = less(numbers({kLength}, 5), Tensor::full(0.5, {}));
  const Tensor before = greater_equal(reshape(count, {kLength, 1}), reshape(count, {1, kLength}));
  const Tree x{
      {"q", numbers({2, kLength, 8}, 1)}, {"k", numbers({2, kLength, 8}, 2)}, {"v", numbers({2, kLength, 8}, 3)}};
  const auto check = [&](const AttentionOptions& options, const Tensor& seen, const Tensor& given) {
    const auto whole =
        with_gradients(x, [&](const Tree& in) { return attention_at_once(in["q"], in["k"], in["v"], seen); });
    EXPECT_EQ(with_gradients(x,
                             [&](const Tree& in) {
                               return given.defined() ? attention(in["q"], in["k"], in["v"], given, options)
                                                      : attention(in["q"], in["k"], in["v"], options);
                             }),
              whole);
  };
  check({}, Tensor::full(1, {}, DType::boolean), {});
  check({.causal = true}, before, {});
  const Tensor seen = logical_or(mask, equal(count, Tensor::full(0, {})));  // all see the first key
  check({}, seen, seen);
  check({.causal = true}, logical_and(before, seen), seen);
  check({}, logical_and(before, seen), logical_and(before, seen));
}

TEST(Attention, PartsOfHeadsThatShareKeysHaveTheBitsOfCopies) {
  constexpr int64_t kLength = 600;
  const Tensor is_first = equal(Tensor::arange(kLength), Tensor::full(0, {}));
  const Tensor mask = logical_or(greater(numbers({4, kLength, kLength}, 5), Tensor::full(-0.5, {})), is_first);
  const Tree x{{"q", numbers({4, kLength, 4}, 1)}};
  const Tensor k = numbers({2, kLength, 4}, 2), v = numbers({2, kLength, 4}, 3);
  const Tensor ks = repeat_interleave(k, 0, 2), vs = repeat_interleave(v, 0, 2);
  for (const bool causal : {false, true})
    EXPECT_EQ(with_gradients(x, [&](const Tree& in) { return attention(in["q"], k, v, mask, {.causal = causal}); }),
              with_gradients(x, [&](const Tree& in) { return attention(in["q"], ks, vs, mask, {.causal = causal}); }));
}

// The bytes of intermediates that the plan of attention and its gradients has at once.
double attention_bytes(int64_t length) {
  RecordingScope scope;
  std::vector<Tensor> x;
  for (int i = 0; i < 3; ++i) x.push_back(scope.recording().add_input({DType::f32, {length, 4}, {}, {}}));
  const auto made = gradients(sum(attention(x[0], x[1], x[2], {.causal = true})), x);
  return static_cast<double>(make_plan(scope.recording().take_trace(made))->arena_bytes());
}

TEST(Attention, TakesMemoryInProportionToTheLength) { EXPECT_LE(attention_bytes(4096), 2.2 * attention_bytes(2048)); }

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
