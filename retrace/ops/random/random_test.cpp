#include "retrace/ops/random/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/base/philox.h"
#include "retrace/device/device.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"
#include "retrace/trace/draw_scope.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int32_t>;

const RandomKey kKey = random_key(7).split("test");
constexpr const char* kNoGradient = "a draw depends on its key only";

// The argument says whether f32 or f64 is asked for.
OpCase draws(const char* op, const char* name, Shape shape, const char* labels, Bound bound = {}) {
  return {.op = op,
          .name = name,
          .inputs = {{}},
          .build =
              [=](const std::vector<Tensor>& in) {
                const DrawOptions options{.labels = labels, .type = in[0].type()};
                if (std::string_view(op) == "uniform") return std::vector<Tensor>{uniform(shape, kKey, options)};
                if (std::string_view(op) == "normal") return std::vector<Tensor>{normal(shape, kKey, options)};
                return std::vector<Tensor>{integers(shape, 10, kKey, options)};
              },
          .bound = bound,
          .differentiable = false,
          .no_gradient = kNoGradient};
}

OP_EXAMPLE(uniform, uniform({3}, random_key(1)));
OP_EXAMPLE(normal, normal({3}, random_key(1)));
OP_EXAMPLE(integers, integers({5}, 10, random_key(1)));

OP_CASES(random) {
  std::vector<OpCase> cases;
  for (const char* op : {"uniform", "normal", "integers"}) {
    const Bound bound = std::string_view(op) == "normal" ? Bound{.ulp = 4, .relative = 4e-7} : Bound{};
    cases.push_back(draws(op, "rank_0", {}, "", bound));
    cases.push_back(draws(op, "empty", {0, 3}, "", bound));
    cases.push_back(draws(op, "odd", {3, 5, 7}, "BSC", bound));
    cases.push_back(draws(op, "long", {3, 9001}, "BC", bound));
    cases.push_back(draws(op, "unlabelled", {20001}, "", bound));
  }
  return cases;
}

// Draws as if in a shard that begins at a sample of the mini-batch.
Floats drawn_at(int64_t first_sample, const std::function<Tensor()>& draw) {
  DrawScope scope(kKey.tensor());
  scope.begin_shard(first_sample);
  return draw().to_vector<float>();
}

TEST(Random, is_the_stated_function_of_its_key) {
  const auto y = drawn_at(3, [] { return uniform({2, 5}, kKey, {.labels = "BC"}); });
  const uint64_t key = stream_key(kKey.value(), hash_bytes("draw"), 0, 0);
  for (uint64_t s = 0; s < 2; ++s)
    for (uint64_t e = 0; e < 5; ++e)
      EXPECT_EQ(y[s * 5 + e], static_cast<float>(philox_bits(key, 3 + s, e) >> 8) * 0x1p-24f) << s << " " << e;
}

TEST(Random, a_sample_does_not_depend_on_its_batch) {
  const auto whole = normal({6, 3, 7}, kKey, {.labels = "BSC"}).to_vector<float>();
  for (int64_t first = 0; first < 6; first += 2) {
    const auto part = drawn_at(first, [] { return normal({2, 3, 7}, kKey, {.labels = "BSC"}); });
    EXPECT_EQ(part, Floats(whole.begin() + first * 21, whole.begin() + (first + 2) * 21));
  }
}

TEST(Random, keys_make_different_streams) {
  const auto of = [](RandomKey key) { return uniform({8}, key).to_vector<float>(); };
  EXPECT_EQ(of(random_key(7).split("test")), of(kKey));
  EXPECT_NE(of(random_key(8).split("test")), of(kKey));
  EXPECT_NE(of(random_key(7).split("other")), of(kKey));
  EXPECT_NE(of(random_key(7).split(uint64_t{0})), of(random_key(7)));
  EXPECT_NE(of(kKey.split(1)), of(kKey.split(2)));
}

TEST(Random, steps_make_different_streams) {
  const auto at = [](int64_t step) {
    DrawScope scope(kKey.tensor(step));
    return uniform({8}).to_vector<float>();
  };
  EXPECT_EQ(at(1), at(1));
  EXPECT_NE(at(1), at(2));
  EXPECT_NE(at(1), at(int64_t{1} + (int64_t{1} << 32)));
}

TEST(Random, has_the_moments_of_its_distribution) {
  const int64_t n = 200000;
  const auto u = uniform({n}, kKey).to_vector<float>(), z = normal({n}, kKey).to_vector<float>();
  double mean = 0, square = 0, normal_mean = 0, normal_square = 0, fourth = 0;
  for (size_t i = 0; i < u.size(); ++i) {
    ASSERT_GE(u[i], 0.0f);
    ASSERT_LT(u[i], 1.0f);
    mean += u[i], square += double{u[i]} * u[i];
    normal_mean += z[i], normal_square += double{z[i]} * z[i], fourth += std::pow(double{z[i]}, 4);
  }
  const double count = static_cast<double>(n);
  EXPECT_NEAR(mean / count, 0.5, 0.003);
  EXPECT_NEAR(square / count, 1.0 / 3, 0.003);
  EXPECT_NEAR(normal_mean / count, 0, 0.01);
  EXPECT_NEAR(normal_square / count, 1, 0.015);
  EXPECT_NEAR(fourth / count, 3, 0.12);
}

TEST(Random, integers_reach_all_values_alike) {
  std::vector<int> seen(10);
  for (int32_t x : integers({100000}, 10, kKey).to_vector<int32_t>()) {
    ASSERT_TRUE(x >= 0 && x < 10);
    ++seen[static_cast<size_t>(x)];
  }
  for (int count : seen) EXPECT_NEAR(count, 10000, 400);
  EXPECT_EQ(integers({3}, 1, kKey).to_vector<int32_t>(), (Integers{0, 0, 0}));
}

TEST(Random, a_scope_numbers_its_draws_and_begins_each_shard_anew) {
  DrawScope scope(kKey.tensor(4));
  scope.begin_shard(0);
  const auto first = uniform({4, 3}, {.labels = "BC"}).to_vector<float>();
  const auto second = uniform({4, 3}, {.labels = "BC"}).to_vector<float>();
  EXPECT_NE(first, second);
  scope.begin_shard(2);
  const auto shard = uniform({2, 3}, {.labels = "BC"}).to_vector<float>();
  EXPECT_EQ(shard, Floats(first.begin() + 6, first.end()));
  const auto own_key = uniform({4}, kKey).to_vector<float>();  // takes no number from the scope
  EXPECT_EQ(uniform({2, 3}, {.labels = "BC"}).to_vector<float>(), Floats(second.begin() + 6, second.end()));
  EXPECT_EQ(uniform({4}, kKey).to_vector<float>(), own_key);
}

TEST(Random, draws_of_a_function_are_fresh_at_each_call_and_equal_for_any_shards) {
  const auto x = Tensor::full(1, {6, 2}, DType::f32, "BC");
  const auto noise = [&](const GradientOptions& options, int calls) {
    auto step = value_and_grad(
        [](const Tree& p, const Tensor& batch) {
          const Tensor drawn = uniform(batch.shape(), {.labels = std::string(batch.labels())});
          return WithAux{sum(multiply(multiply(drawn, batch), p.tensor())), Tree{{"drawn", drawn}}};
        },
        options);
    Floats last;
    for (int i = 0; i < calls; ++i) last = step(Tree(Tensor::full(1, {})), x).aux["drawn"].tensor().to_vector<float>();
    return last;
  };
  EXPECT_EQ(noise({}, 1), noise({}, 1));
  EXPECT_NE(noise({}, 1), noise({}, 2));
  EXPECT_NE(noise({.seed = 1}, 1), noise({.seed = 2}, 1));
  EXPECT_EQ(noise({}, 2), noise({.shards = 3}, 2));
  EXPECT_NE(noise({.name = "dropout"}, 1), noise({}, 1));
  EXPECT_NE(noise({.name = "dropout"}, 1), noise({.name = "noise"}, 1));
  EXPECT_EQ(noise({.name = "dropout"}, 2), noise({.shards = 3, .name = "dropout"}, 2));
}

TEST(Random, the_key_of_a_function_is_that_of_its_seed_and_its_name) {
  EXPECT_EQ(function_key(7, "").value(), random_key(7).value());
  EXPECT_EQ(function_key(7, "a").value(), random_key(7).split("a").value());
}

TEST(Random, draws_the_same_bits_on_cuda) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const auto drawn = [](const Tensor& key) {
    DrawScope scope(key);
    scope.begin_shard(5);
    std::vector<Tensor> all;
    for (const auto& [shape, labels] : std::vector<std::pair<Shape, const char*>>{
             {{}, ""}, {{0, 3}, ""}, {{3, 5, 7}, "BSC"}, {{3, 9001}, "BC"}, {{20001}, ""}}) {
      all.push_back(uniform(shape, {.labels = labels}));
      all.push_back(normal(shape, {.labels = labels}));
      all.push_back(integers(shape, 10, {.labels = labels}));
    }
    return all;
  };
  const Tensor key = kKey.tensor(0x123456789a);
  const auto here = drawn(key), there = drawn(key.to(*gpus()[0]));
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(&there[i].device(), gpus()[0]);
    EXPECT_EQ(bit_difference(here[i], there[i]), "") << i;
  }
}

TEST(Random, needs_a_key_outside_of_a_function) {
  EXPECT_EQ(error_text([] { normal({2}, DrawOptions(), {"model.cpp", 7}); }),
            "error[RT0185]: normal: a draw outside of a recorded function needs a key\n"
            "  where:    model.cpp:7\n"
            "  help:     normal(shape, random_key(seed).split(\"name\"))");
}

TEST(Random, refuses_what_is_no_key_and_no_bound) {
  EXPECT_EQ(error_text([] {
              DrawScope scope(Tensor::zeros({2}, DType::i32));
              uniform({2}, DrawOptions(), {"model.cpp", 7});
            }),
            "error[RT0186]: uniform: the key has a wrong shape\n"
            "  where:    model.cpp:7\n"
            "  got:      key i32[2]\n"
            "  expected: i32[4]\n"
            "  help:     use random_key(seed).tensor(step)");
  EXPECT_EQ(error_text([] { integers({2}, 0, kKey, {}, {"model.cpp", 7}); }),
            "error[RT0184]: integers: n is 0\n"
            "  where:    model.cpp:7\n"
            "  expected: 1 or more");
  EXPECT_EQ(error_text([] { normal({2}, kKey, {.type = DType::i32}, {"model.cpp", 7}); }),
            "error[RT0131]: normal: the type is i32\n"
            "  where:    model.cpp:7\n"
            "  expected: f32 or f64\n"
            "  help:     integers(shape, n) draws whole numbers");
  EXPECT_EQ(error_text([] { uniform({-1}, kKey, {}, {"model.cpp", 7}); }),
            "error[RT0102]: uniform: the shape [-1] has a negative size\n"
            "  where:    model.cpp:7\n"
            "  got:      [-1]\n"
            "  expected: sizes of 0 or more");
  EXPECT_EQ(error_text([] { uniform({2}, kKey, {.labels = "BC"}, {"model.cpp", 7}); }),
            "error[RT0112]: uniform: labels \"BC\" do not fit the shape [2]\n"
            "  where:    model.cpp:7\n"
            "  expected: one label for each axis\n"
            "  help:     write U for an axis without a meaning of its own");
  EXPECT_EQ(error_text([] {
              DrawScope scope(Tensor::zeros({4}));
              uniform({2}, DrawOptions(), {"model.cpp", 7});
            }),
            "error[RT0131]: uniform: the key is f32\n"
            "  where:    model.cpp:7\n"
            "  got:      the key f32[4]\n"
            "  expected: i32\n"
            "  help:     cast(the key, DType::i32)");
}

}  // namespace
}  // namespace retrace
