// In which order gradients are added, and the whole texts of what value_and_grad refuses.
#include "retrace/autodiff/value_and_grad.h"

#include <gtest/gtest.h>

#include "retrace/distributed/group.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

const Place place{"train.cpp", 9};
const auto kLoss = [](const Tensor& w, const Tensor& x) { return mean(w * x); };

Tensor weight() { return Tensor::scalar(2.0f); }
Tensor batch(int64_t samples) { return Tensor::zeros({samples, 1}, DType::f32, "BC"); }

// One of two workers, without the other.
class HalfGroup : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void exchange(std::span<const Sent>, std::span<const Received>, const char*) override {}
  void fail(const std::string&) noexcept override {}
};

TEST(ValueAndGrad, RefusesWhatIsNoLoss) {
  EXPECT_EQ(error_text([] { value_and_grad([](const Tensor&) { return Tensor(); }, {}, place)(weight()); }),
            "error[RT0210]: the function returned no loss\n"
            "  where:    train.cpp:9");
  EXPECT_EQ(error_text([] { value_and_grad([](const Tensor& x) { return x * x; }, {}, place)(batch(2)); }),
            "error[RT0210]: the value to differentiate is not a single number\n"
            "  where:    train.cpp:9\n"
            "  got:      f32[2,1] \"BC\"\n"
            "  expected: one f32 or f64 element\n"
            "  help:     sum it, or use a loss such as cross_entropy or mean_squared_error");
}

TEST(ValueAndGrad, RefusesShardsThatDoNotExist) {
  EXPECT_EQ(error_text([] { value_and_grad(kLoss, {.shards = 0}, place)(weight(), batch(2)); }),
            "error[RT0221]: shards = 0 is not possible\n"
            "  where:    train.cpp:9\n"
            "  expected: 1 or more");
  EXPECT_EQ(error_text([] { value_and_grad(kLoss, {.shards = 2}, place)(weight(), Tensor::zeros({2})); }),
            "error[RT0224]: shards need an argument with a B label\n"
            "  where:    train.cpp:9\n"
            "  help:     give the mini-batch its labels, for example \"BSSC\"");
}

TEST(ValueAndGrad, TakesBatchesOfTwoSizesInOneShard) {
  const auto loss = [](const Tensor& w, const Tensor& inner, const Tensor& border) {
    return mean(w * inner) + mean(w * w * border);
  };
  const Tensor inner = Tensor::ones({6, 1}, "BC"), border = Tensor::full(3, {2, 1}, "BC");
  EXPECT_EQ(value_and_grad(loss)(weight(), inner, border).gradients.item<float>(), 1 + 3 * 2 * 2);
}

TEST(ValueAndGrad, RefusesBatchesThatDoNotFit) {
  const auto loss = [](const Tensor& w, const Tree& data) { return mean(w * data["x"].tensor()); };
  const Tree data{{"x", batch(2)}, {"y", batch(3)}};
  EXPECT_EQ(error_text([&] { value_and_grad(loss, {.shards = 2}, place)(weight(), data); }),
            "error[RT0223]: arguments with a B label have 2 and 3 samples\n"
            "  where:    train.cpp:9\n"
            "  got:      y f32[3,1] \"BC\"\n"
            "  expected: one batch size for all of them, where shards or workers share them\n"
            "  help:     leave the label B away where an argument is no part of the mini-batch, or take one shard");
  Worker worker(std::make_shared<HalfGroup>());
  EXPECT_EQ(error_text([&] { value_and_grad(kLoss, {.shards = 2, .worker = &worker}, place)(weight(), batch(2)); }),
            "error[RT0225]: a batch does not say where it stands in the whole mini-batch\n"
            "  where:    train.cpp:9\n"
            "  help:     take it from queue.share(worker, shards)");
}

TEST(ValueAndGrad, RefusesResultsThatShardsCannotCombine) {
  const auto loss = [](const Tensor& w, const Tensor& x) { return WithAux{mean(w * x), Tree{{"m", mean(x)}}}; };
  EXPECT_EQ(error_text([&] { value_and_grad(loss, {.shards = 2}, place)(weight(), batch(2)); }),
            "error[RT0222]: the result \"m\" cannot be combined over shards\n"
            "  where:    train.cpp:9\n"
            "  got:      f32[]\n"
            "  expected: a tensor with a B label, a subtree marked \"moments\", or a value with a rule\n"
            "  help:     wrap it in mean_over_shards(...) or sum_over_shards(...)");
}

// 1e8 + 1 is 1e8 in binary32, so that the order of three contributions shows.
TEST(ValueAndGrad, AddsContributionsInTheOrderOfTheirConsumers) {
  const auto gradient = [](float a, float b, float c) {
    // One statement each: C++ may evaluate the operands of one expression in any order.
    const auto loss = [=](const Tensor& x) {
      const Tensor first = x * a, second = x * b, third = x * c;
      return first + second + third;
    };
    return value_and_grad(loss)(weight()).gradients.item<float>();
  };
  EXPECT_EQ(gradient(1e8f, -1e8f, 1), 1);
  EXPECT_EQ(gradient(1, 1e8f, -1e8f), 0);
  EXPECT_EQ(gradient(1e8f, 1, -1e8f), 0);
}

}  // namespace
}  // namespace retrace
