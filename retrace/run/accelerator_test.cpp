// Counters, what is said about misses, and check mode.
#include <gtest/gtest.h>

#include <cmath>

#include "retrace/retrace.h"
#include "retrace/run/accelerate.h"
#include "retrace/run/float_testing.h"

namespace retrace {
namespace {

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// -- cache and counters ------------------------------------------------------------------------------------------

TEST(Accelerate, CountsAndDropsTheLeastRecentlyUsed) {
  const auto run = accelerate([](const Tensor& x) { return x + 1.0f; }, {.cache_size = 2});
  EXPECT_EQ(run.hit_rate(), 0);
  run(Tensor::zeros({1})), run(Tensor::zeros({2})), run(Tensor::zeros({1}));
  EXPECT_EQ(run.occupancy(), 100);
  run(Tensor::zeros({3}));  // drops the one of size 2
  EXPECT_EQ(run.evictions(), 1);
  run(Tensor::zeros({1}));
  EXPECT_EQ(run.hits(), 2);
  run(Tensor::zeros({2}));
  EXPECT_EQ(run.misses(), 4);
  EXPECT_DOUBLE_EQ(run.hit_rate(), 100.0 * 2 / 6);
}

TEST(Accelerate, CacheCanBeClearedAndResized) {
  auto run = accelerate([](const Tensor& x) { return x + 1.0f; });
  EXPECT_EQ(run.cache_size(), 50);
  for (int n = 1; n <= 4; ++n) run(Tensor::zeros({n}));
  EXPECT_EQ(run.occupancy(), 8);
  run.set_cache_size(1);
  EXPECT_EQ(run.occupancy(), 100);
  run(Tensor::zeros({4}));
  EXPECT_EQ(run.hits(), 1);
  run.clear_cache();
  EXPECT_EQ(run.occupancy(), 0);
  EXPECT_EQ(run.hit_rate(), 0);
  EXPECT_EQ(run.why(), "");
  run(Tensor::zeros({4}));
  EXPECT_EQ(run.misses(), 1);
  EXPECT_TRUE(contains(error_of([&] { run.set_cache_size(0); }), "a cache of 0 traces is not possible"));
}

TEST(Accelerate, CanBeSwitchedOff) {
  int runs = 0;
  auto run = accelerate([&](const Tensor& x) {
    ++runs;
    return x + 1.0f;
  });
  run(Tensor::zeros({1}));
  run.set_enabled(false);
  EXPECT_EQ(values_of(run(floats({1}))), (Floats{2}));
  run.set_enabled(true);
  set_plan_cache_enabled(false);
  EXPECT_EQ(values_of(run(floats({2}))), (Floats{3}));
  set_plan_cache_enabled(true);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(run.hits() + run.misses(), 1);  // plain calls are not counted
}

TEST(Accelerate, CopiesShareTheCache) {
  const auto run = accelerate([](const Tensor& x) { return x + 1.0f; });
  const auto copy = run;
  copy(Tensor::zeros({1}));
  run(Tensor::zeros({1}));
  EXPECT_EQ(run.hits(), 1);
}

TEST(Accelerate, SaysWhyItMissed) {
  const auto run = accelerate([](const Tree& p, const Tensor& x, int n, const std::string& name, bool flag) {
    return flag ? p[name] * x + n : x;
  });
  const Tree p{{"a", Tree{{"w", floats({1})}, {"v", floats({1})}}}, {"b", floats({1})}};
  const Tensor x = Tensor::zeros({2, 1}, DType::f32, "BC");
  EXPECT_EQ(run.why(), "");
  run(p, x, 1, "b", true);
  EXPECT_EQ(run.why(), "the first call");
  run(p, x, 2, "b", true);
  EXPECT_EQ(run.why(), "argument 3: 1 became 2");
  run(p, Tensor::zeros({3, 1}, DType::f32, "BC"), 2, "b", true);
  EXPECT_EQ(run.why(), "argument 2: f32[2,1] \"BC\" became f32[3,1] \"BC\"");
  run(p, x, 2, "b", true);
  run(p, Tensor::zeros({2, 1}), 2, "b", true);
  EXPECT_EQ(run.why(), "argument 2: f32[2,1] \"BC\" became f32[2,1]");
  run(p, x, 2, "b", true);
  run(p, x, 2, "b", false);
  EXPECT_EQ(run.why(), "argument 5: 1 became 0");
  run(p, x, 2, "a", false);
  EXPECT_EQ(run.why(), "argument 4: \"b\" became \"a\"");
  Tree other = p;
  other["a"]["v"] = Tree(floats({1, 2}));
  run(other, x, 2, "a", false);
  EXPECT_EQ(run.why(), "argument 1 \"a/v\": f32[1] became f32[2]");
  other["c"] = Tree(x);
  run(other, x, 2, "a", false);
  EXPECT_EQ(run.why(), "argument 1: a tree of 2 entries became a tree of 3 entries");
}

std::vector<std::string>& warnings() {
  static std::vector<std::string> texts;
  return texts;
}

TEST(Accelerate, WarnsOnceWhenItKeepsMissing) {
  warnings().clear();
  set_warning_handler([](const std::string& text) { warnings().push_back(text); });
  const auto run = accelerate([](const Tensor& x, int step) { return x + step; });
  const int line = __LINE__ - 1;
  for (int step = 0; step < 12; ++step) run(Tensor::zeros({1}), step);
  set_warning_handler(nullptr);
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_EQ(warnings()[0], "the function accelerated at accelerator_test.cpp:" + std::to_string(line) +
                               " was recorded anew 5 times in a row; the last time because of argument 2: 3 became 4");
}

TEST(Accelerate, KeepsNothingWhenItFails) {
  bool fail = true;
  const auto run = accelerate([&](const Tensor& x) {
    const Tensor y = x + 1.0f;
    if (fail) throw std::runtime_error("no");
    return y;
  });
  EXPECT_THROW(run(Tensor::zeros({1})), std::runtime_error);
  EXPECT_EQ(run.misses(), 0);
  EXPECT_EQ(run.occupancy(), 0);
  fail = false;
  EXPECT_EQ(values_of(run(floats({1}))), (Floats{2}));
  EXPECT_EQ(values_of(floats({1}) + floats({2})), (Floats{3}));  // the thread records as before
}

// -- check mode --------------------------------------------------------------------------------------------------

TEST(CheckMode, NamesTheTensorAndTheDistance) {
  float factor = 1;
  auto run = accelerate([&](const Tensor& x) { return std::tuple(x, Tree{{"scaled", x * factor}}); });
  const int line = __LINE__ - 1;
  run.set_check_mode(Check::bits);
  run(floats({1, 2})), run(floats({3, 4}));
  EXPECT_EQ(run.hits(), 1);
  factor = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(error_of([&] { run(floats({1, 0})); }),
            "error[RT0258]: check mode: an accelerated function gives another result than the function itself\n"
            "  where:    accelerator_test.cpp:" +
                std::to_string(line) +
                "\n"
                "  got:      result 2 \"scaled\" f32[2]: 1 of 2 elements differ; element 0 is 1, plainly 1.0000001, 1 "
                "units in the last place away\n"
                "  help:     the function depends on something that is not among its arguments: make it one");
  run.set_check_mode(Check::tolerance);
  EXPECT_EQ(error_of([&] { run(floats({1, 0})); }), "");
  run.set_check_tolerance(1e-8);
  EXPECT_NE(error_of([&] { run(floats({1, 0})); }), "");
  run.set_check_mode(Check::off);
  EXPECT_EQ(error_of([&] { run(floats({1, 0})); }), "");
}

TEST(CheckMode, ComparesRecordingsInsideAGradient) {
  float factor = 1;
  bool more = false;
  const auto part =
      accelerate([&](const Tensor& x) { return more ? x * factor + x : x * factor; }, {.check_mode = Check::bits});
  const auto loss = value_and_grad([&](const Tensor& x) { return sum(part(x)); });
  loss(floats({1})), loss(floats({2}));
  factor = 2;
  EXPECT_TRUE(contains(error_of([&] { loss(floats({1})); }), "a captured tensor or number has other values"));
  more = true;
  EXPECT_TRUE(contains(error_of([&] { loss(floats({1})); }), "1 operations were recorded and are 2 now"));
}

TEST(CheckMode, DrawsTheSameNumbers) {
  const auto noisy = accelerate([](const Tensor& x) { return x + uniform(x.shape()); }, {.check_mode = Check::bits});
  for (int i = 0; i < 3; ++i) noisy(floats({1, 2}));
  EXPECT_EQ(noisy.hits(), 2);
}

}  // namespace
}  // namespace retrace
