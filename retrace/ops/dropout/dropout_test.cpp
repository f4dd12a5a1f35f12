#include "retrace/ops/dropout/dropout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/tanh/tanh.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/plan/compile.h"
#include "retrace/run/accelerate.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/fingerprint.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

const RandomKey kKey = random_key(3).split("dropout");

CaseFunction drops(double probability, const DropoutOptions& options = {}) {
  return [=](const auto& in) { return std::vector<Tensor>{dropout(in[0], probability, kKey, options)}; };
}

OP_EXAMPLE(dropout, dropout(Tensor::ones({2, 4}), 0.5, random_key(1)));

OP_CASES(dropout) {
  const auto one_case = [](const char* name, CaseInput x, CaseFunction build) {
    return OpCase{
        .op = "where", .name = name, .inputs = {std::move(x)}, .build = std::move(build), .bound = {.ulp = 1}};
  };
  return {
      one_case("dropout_rows", {.shape = {5, 37}, .labels = "BC"}, drops(0.5)),
      one_case("dropout_unlabelled", {.shape = {3001}}, drops(0.3)),
      one_case("dropout_rank_0", {}, drops(0.1)),
      one_case("dropout_empty", {.shape = {0, 3}, .labels = "BC"}, drops(0.5)),
      one_case("dropout_of_nothing", {.shape = {4, 5}, .labels = "BC"}, drops(0)),
      one_case("dropout_image", {.shape = {3, 4, 5, 7}, .labels = "BSSC"}, drops(0.25)),
      one_case("dropout_channels", {.shape = {3, 4, 5, 7}, .labels = "BSSC"}, drops(0.25, {.whole_channels = true}))};
}

Tensor ones_of(const Shape& shape, const std::string& labels = "") {
  return Tensor::full(1, shape, DType::f32, labels);
}

TEST(Dropout, keeps_what_is_drawn_at_the_probability_or_above_it) {
  const Tensor x = uniform({6, 50}, random_key(1), {.labels = "BC"});
  const auto u = uniform({6, 50}, kKey, {.labels = "BC"}).to_vector<float>(), in = x.to_vector<float>();
  const Tensor y = dropout(x, 0.3, kKey);
  EXPECT_EQ(y.labels(), "BC");
  const auto out = y.to_vector<float>();
  for (size_t i = 0; i < u.size(); ++i)
    EXPECT_EQ(out[i], u[i] < 0.3f ? 0.0f : in[i] * static_cast<float>(1 / (1 - 0.3))) << i;
}

TEST(Dropout, drops_that_share_and_keeps_the_mean) {
  for (double probability : {0.0, 0.1, 0.5, 0.9}) {
    const auto y = dropout(ones_of({200000}), probability, kKey).to_vector<float>();
    double mean = 0, zeros = 0;
    for (float value : y) mean += value, zeros += value == 0;
    const double n = static_cast<double>(y.size());
    EXPECT_NEAR(zeros / n, probability, 0.005) << probability;
    EXPECT_NEAR(mean / n, 1, 0.02) << probability;
  }
}

TEST(Dropout, makes_zero_of_whatever_it_drops_and_f64_drops_the_same) {
  const double nan = std::nan("");
  const auto y = dropout(Tensor::full(nan, {1000}), 0.5, kKey).to_vector<float>();
  const auto wide = dropout(Tensor::full(1, {1000}, DType::f64), 0.5, kKey).to_vector<double>();
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_TRUE(std::isnan(y[i]) || (y[i] == 0 && !std::signbit(y[i]))) << i;
    EXPECT_EQ(y[i] == 0, wide[i] == 0) << i;
  }
}

TEST(Dropout, drops_whole_channels) {
  const auto y = dropout(ones_of({8, 3, 4, 5}, "BSSC"), 0.5, kKey, {.whole_channels = true}).to_vector<float>();
  const auto rows = dropout(ones_of({8, 5}, "BC"), 0.5, kKey).to_vector<float>();
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], rows[i / 60 * 5 + i % 5]) << i;
  const auto plain = dropout(ones_of({8, 12, 5}), 0.5, kKey, {.whole_channels = true}).to_vector<float>();
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(plain[i], plain[i / 60 * 60 + i % 5]) << i;
}

// What calls of a function drop, and the gradients: one shard or several, one thread or two, recorded or replayed.
Floats dropped_in(const GradientOptions& options, int calls, bool accelerated) {
  const Tensor x = uniform({6, 7}, random_key(1), {.labels = "BC"}), w = uniform({7}, random_key(2));
  const auto step = value_and_grad(
      [](const Tree& p, const Tensor& batch) {
        const Tensor y = dropout(dropout(batch * p.tensor(), 0.4), 0.5);
        return WithAux{sum(y * y), Tree{{"y", y}}};
      },
      options);
  const auto fast = accelerate(step);
  Floats all;
  for (int i = 0; i < calls; ++i) {
    const auto result = accelerated ? fast(Tree(w), x) : step(Tree(w), x);
    for (float value : result.aux["y"].tensor().template to_vector<float>()) all.push_back(value);
    if (options.shards == 1)
      for (float value : result.gradients.tensor().template to_vector<float>()) all.push_back(value);
  }
  return all;
}

TEST(Dropout, of_a_call_is_the_same_for_shards_and_threads_and_replay) {
  const Floats once = dropped_in({.seed = 5}, 3, false);
  EXPECT_EQ(dropped_in({.seed = 5}, 3, true), once);
  EXPECT_NE(dropped_in({.seed = 6}, 3, false), once);
  const int threads = thread_count();
  for (int count : {1, 2}) {
    set_thread_count(count);
    EXPECT_EQ(dropped_in({.seed = 5}, 3, true), once) << count;
  }
  set_thread_count(threads);
  EXPECT_EQ(Floats(once.begin(), once.begin() + 42), dropped_in({.shards = 3, .seed = 5}, 1, false));
  EXPECT_EQ(dropped_in({.shards = 3, .seed = 5}, 3, false), dropped_in({.shards = 3, .seed = 5}, 3, true));
  // Each call drops anew.
  EXPECT_NE(Floats(once.begin(), once.begin() + 42), Floats(once.begin() + 49, once.begin() + 91));
}

// A limit of memory lets values be computed again in the backward pass: what was dropped stays dropped.
TEST(Dropout, drops_the_same_when_values_are_computed_again) {
  const Tensor x = normal({512, 64}, random_key(1), {.labels = "BC"}), w = normal({64, 64}, random_key(2));
  const auto run = [&](size_t limit) {
    set_memory_limit(static_cast<int64_t>(limit));
    plan_cache().clear();
    const auto step = value_and_grad([&](const Tree& p) {
      Tensor y = x;
      for (int i = 0; i < 8; ++i) y = tanh(dropout(linear(y, p.tensor()), 0.25));
      return mean(y * y);
    });
    const auto [value, gradients] = step(Tree(w));
    const Tree all{{"value", value}, {"gradients", gradients}};
    return std::pair(fingerprint(all), last_plan()->arena_bytes());
  };
  const auto [expected, whole] = run(0);
  const auto [bits, arena] = run(whole * 3 / 4);
  set_memory_limit(0);
  EXPECT_LT(arena, whole);
  EXPECT_EQ(bits, expected);
}

TEST(Dropout, says_what_does_not_fit) {
  const Place place{"train.cpp", 5};
  EXPECT_EQ(error_text([&] { dropout(ones_of({2}), 1, kKey, {}, place); }),
            "error[RT0188]: dropout: the probability is 1\n"
            "  where:    train.cpp:5\n"
            "  expected: 0 or more, and less than 1: the share of elements that are dropped");
  EXPECT_EQ(error_text([&] { dropout(ones_of({2}), 0.5, {}, place); }),
            "error[RT0189]: dropout: what is dropped outside of a recorded function needs a key\n"
            "  where:    train.cpp:5\n"
            "  expected: a call within a function made by value_and_grad or accelerate, or a key\n"
            "  help:     dropout(x, probability, random_key(seed).split(\"name\")); layers in inference drop nothing");
  EXPECT_EQ(error_text([&] { dropout(Tensor::zeros({2}, DType::i32), 0.5, kKey, {}, place); }),
            "error[RT0131]: dropout: x is i32\n"
            "  where:    train.cpp:5\n"
            "  got:      x i32[2]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
}

}  // namespace
}  // namespace retrace
