// The mode fast: real differences from run to run; and the mode reproducible, which it leaves as it is.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/finish_order.h"
#include "retrace/device/cpu/thread_count.h"
#include "retrace/ops/ops.h"
#include "retrace/run/accelerate.h"
#include "retrace/run/plan_cache.h"
#include "retrace/run/plan_settings.h"
#include "retrace/tensor/fingerprint.h"

namespace retrace {
namespace {

Tensor numbers(const Shape& shape, uint64_t seed, const char* labels = "") {
  return normal(shape, random_key(seed), {.labels = labels});
}

// The gradient of a convolution's filters, of many positions.
std::string convolution() {
  const auto loss = [](const Tree& p, const Tensor& x) { return sum(square(conv2d(x, p, {.padding = same}))); };
  const Tree p{{"weights", numbers({3, 3, 4, 8}, 1)}, {"bias", Tensor::zeros({8})}};
  return fingerprint(value_and_grad(loss)(p, numbers({24, 32, 32, 4}, 2, "BSSC")).gradients);
}

TEST(Mode, SetReturnsTheModeBefore) {
  EXPECT_EQ(mode(), Mode::reproducible);
  EXPECT_EQ(set_mode(Mode::fast), Mode::reproducible);
  EXPECT_EQ(set_mode(Mode::fast_bf16), Mode::fast);
  EXPECT_EQ(set_mode(Mode::fast), Mode::fast_bf16);
  {
    const ModeScope scope(Mode::reproducible);
    EXPECT_EQ(mode(), Mode::reproducible);
  }
  EXPECT_EQ(mode(), Mode::fast);
  EXPECT_EQ(set_mode(Mode::reproducible), Mode::fast);
}

// Races are real: how often it takes until two orders differ is not known, but hundreds of equal ones are no chance.
TEST(Mode, FastResultsDiffer) {
  set_thread_count(2);
  const std::string expected = convolution();
  {
    const ModeScope fast(Mode::fast);
    std::set<std::string> seen;
    for (int i = 0; i < 500 && seen.size() < 2; ++i) seen.insert(convolution());
    EXPECT_GE(seen.size(), 2u);
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(convolution(), expected);
}

// The mode is part of both keys.
TEST(Mode, PlansAndRecordingsAreKeptForEach) {
  const auto doubled = accelerate([](const Tensor& x) { return x + x; });
  const Tensor x = Tensor::full(2, {3});
  plan_cache().clear();
  const auto compute = [&] {
    evaluate(x * x);
    doubled(x);
  };
  compute(), compute();
  EXPECT_EQ(plan_cache().misses(), 1);
  EXPECT_EQ(doubled.misses(), 1);
  {
    const OwnModeScope fast(Mode::fast);
    EXPECT_EQ(mode(), Mode::fast);
    compute(), compute();
  }
  EXPECT_EQ(plan_cache().misses(), 2);
  EXPECT_EQ(doubled.misses(), 2);
  EXPECT_EQ(doubled.why(), "the mode: reproducible became fast");
  {
    const ModeScope bf16(Mode::fast_bf16);
    compute(), compute();
  }
  EXPECT_EQ(plan_cache().misses(), 3);
  EXPECT_EQ(doubled.misses(), 3);
  EXPECT_TRUE(doubled.why().ends_with(" became fast_bf16")) << doubled.why();
  compute();
  EXPECT_EQ(plan_cache().misses(), 3);
  EXPECT_EQ(doubled.misses(), 3);
}

TEST(Mode, NamesAreThoseOfJobs) {
  for (const Mode mode : {Mode::reproducible, Mode::fast, Mode::fast_bf16})
    EXPECT_EQ(mode_named(mode_name(mode)), mode);
  EXPECT_STREQ(mode_name(Mode::fast_bf16), "fast_bf16");
  EXPECT_EQ(mode_named("faster"), Mode::reproducible);
}

// Of a thread, and no more than of a thread.
TEST(OwnModeScope, TheModeOfTheProcessDoesNotDisturbIt) {
  const ModeScope process(Mode::fast);
  {
    const OwnModeScope own(Mode::reproducible);
    EXPECT_FALSE(is_fast());
    std::jthread([] { EXPECT_TRUE(is_fast()); }).join();
    const OwnModeScope none(std::nullopt);
    EXPECT_TRUE(is_fast());
  }
  EXPECT_TRUE(is_fast());
}

TEST(FinishOrder, AddsInTheOrderOfDone) {
  // Four partial sums of two numbers; in f32 2^24 + 1 is 2^24.
  const std::vector<float> parts{0x1p24f, 1, 1, 2, 1, 3, -0x1p24f, 4};
  const auto sum = [&](const std::vector<int64_t>& order) {
    FinishOrder finished(4);
    for (const int64_t piece : order) finished.done(piece);
    std::vector<float> to(2);
    finished.sum(parts.data(), 2, nullptr, to.data(), 2);
    return to;
  };
  EXPECT_EQ(sum({3, 2, 1, 0}), sum({0, 1, 2, 3}));  // the tree
  const ModeScope fast(Mode::fast);
  EXPECT_EQ(sum({0, 1, 2, 3}), (std::vector<float>{0, 10}));
  EXPECT_EQ(sum({0, 3, 1, 2}), (std::vector<float>{2, 10}));
  EXPECT_EQ(sum({3, 1, 2, 0}), (std::vector<float>{2, 10}));
}

}  // namespace
}  // namespace retrace
