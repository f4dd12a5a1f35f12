// What is moved into an accelerated function: results are made in its memory, and no value that anybody can still see
// changes. On the CPU and on a CUDA device.
#include <gtest/gtest.h>

#include <cstdlib>

#include "retrace/retrace.h"
#include "retrace/run/float_testing.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

class Donation : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const bool cuda = std::string(GetParam()) == "cuda";
    if (cuda && !can_use_gpu()) GTEST_SKIP() << cuda_problem();
    device_ = cuda ? gpus()[0] : &cpu_device();
  }
  Tensor floats(const Floats& values) const {
    return Tensor::from(values, {static_cast<int64_t>(values.size())}).to(*device_);
  }
  Tensor full(const Shape& shape, double value) const { return Tensor::full(value, shape).to(*device_); }

  Device* device_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Devices, Donation, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

const void* memory_of(const Tensor& tensor) { return tensor.value()->buffer->data(); }

// An accelerated function whose first call is over.
template <class F, class... A>
auto ready(F f, const A&... arguments) {
  auto made = accelerate(std::move(f));
  made(arguments...);
  return made;
}

TEST_P(Donation, AResultIsMadeInTheMemoryOfWhatIsMovedIn) {
  const auto next = ready([](const Tensor& x) { return x * 2.0f + 1.0f; }, floats({0, 0}));
  Tensor x = floats({1, 2});
  const void* const memory = memory_of(x);
  for (const Floats& expected : {Floats{3, 5}, Floats{7, 11}, Floats{15, 23}}) {
    x = next(std::move(x));
    EXPECT_EQ(memory_of(x), memory);
    EXPECT_EQ(values_of(x), expected);
  }
  EXPECT_EQ(next.hits(), 3);
}

TEST_P(Donation, APlainResultIsMadeInMemoryThatNobodyHoldsAnyMore) {
  Tensor x = floats({1, 2}), rate = floats({2, 2});
  const void* const memory = memory_of(x);
  for (const Floats& expected : {Floats{3, 5}, Floats{7, 11}, Floats{15, 23}}) {
    x = x * rate + 1.0f;
    EXPECT_EQ(values_of(x), expected);
    EXPECT_EQ(memory_of(x), memory);
  }
  EXPECT_EQ(values_of(rate), (Floats{2, 2}));
  const Tensor held = x, seen = x.relabelled("B");
  x = x * rate;
  EXPECT_EQ(values_of(x), (Floats{30, 46}));
  EXPECT_EQ(values_of(held), (Floats{15, 23}));
  EXPECT_EQ(values_of(seen), (Floats{15, 23}));
}

TEST_P(Donation, ARecordingThatGoesOnKeepsItsInputs) {
  const auto f = [this](Tensor x) {
    Tensor y = x + 1.0f;
    x = floats({0});
    const float first = static_cast<float>(sum(y).number());  // the gradient reads the input of the addition later
    return sum(y * y) * first;
  };
  const Tensor x = floats({3});
  const auto [value, gradient] = value_and_grad(f)(x);
  EXPECT_EQ(value.number(), 64);
  EXPECT_EQ(values_of(gradient), Floats{32});
  EXPECT_EQ(values_of(x), Floats{3});
}

TEST_P(Donation, ARefusedValueLeavesNothingHalfDone) {
  for (int i = 0; i < 2; ++i) {  // the second time by the plan of the cache
    Tensor x = full({4, 3}, 1);
    x = gather_rows(x * 2.0f, Tensor::from<int32_t>({1, 9}, {2}).to(*device_)) + 1.0f;
    EXPECT_THROW(values_of(x), Error);
  }
}

TEST_P(Donation, WhatSomebodyHoldsKeepsItsValue) {
  const auto next = ready([](const Tensor& x) { return x + 1.0f; }, floats({0}));
  Tensor x = floats({1});
  const Tensor held = x;
  EXPECT_EQ(values_of(next(std::move(x))), Floats{2});
  EXPECT_EQ(values_of(held), Floats{1});

  Tensor y = floats({4});
  const Tensor under_labels = y.relabelled("B");
  EXPECT_EQ(values_of(next(std::move(y))), Floats{5});
  EXPECT_EQ(values_of(under_labels), Floats{4});

  Tensor z = floats({6});
  EXPECT_EQ(values_of(next(z)), Floats{7});
  EXPECT_EQ(values_of(z), Floats{6});

  const Tensor pending = held * 3.0f;  // its trace holds `held`, and it holds its trace
  EXPECT_EQ(values_of(next(Tensor(held))), Floats{2});
  EXPECT_EQ(values_of(pending), Floats{3});
}

TEST_P(Donation, WhatWasMovedInIsGoneAtEverySpeed) {
  const auto next = ready([](const Tree& t) { return t["x"] + 1.0f; }, Tree{{"x", floats({0})}});
  for (const bool enabled : {true, false}) {
    auto f = next;
    f.set_enabled(enabled);
    Tree tree{{"x", floats({1})}};
    EXPECT_EQ(values_of(f(std::move(tree))), Floats{2});
    EXPECT_TRUE(tree.empty());
    EXPECT_THROW(tree["x"].tensor(), Error);
    f.set_enabled(true);
  }
}

TEST_P(Donation, OneTensorTwiceIsNotOverwritten) {
  const auto f = ready([](const Tensor& a, const Tensor& b) { return std::pair(a * 2.0f, b * 3.0f); }, floats({0, 0}),
                       floats({0, 0}));
  Tensor a = floats({1, 2}), b = a;
  const auto [x, y] = f(std::move(a), std::move(b));
  EXPECT_EQ(values_of(x), (Floats{2, 4}));
  EXPECT_EQ(values_of(y), (Floats{3, 6}));
}

TEST_P(Donation, WhatPassesThroughKeepsItsValue) {
  const auto f = ready([](const Tensor& x) { return std::tuple(x + 1.0f, x, x * 2.0f); }, floats({0}));
  const auto [more, same, twice] = f(floats({5}));
  EXPECT_EQ(values_of(more), Floats{6});
  EXPECT_EQ(values_of(same), Floats{5});
  EXPECT_EQ(values_of(twice), Floats{10});
}

TEST_P(Donation, AnArgumentThatIsReadLaterIsNotOverwritten) {
  // `sum` is made first and reads x; so does everything after it, also in other kernels.
  const auto f = [](const Tensor& x, const Tensor& w) {
    const Tensor first = x + 1.0f;
    const Tensor total = sum(first * x);
    return std::tuple(first, x * total, matmul(reshape(x, {1, 4}), w), x - first);
  };
  const auto fast = ready(f, floats({0, 0, 0, 0}), full({4, 4}, 0));
  const auto x = [this] { return floats({1, 2, 3, 4}); };
  const auto w = [this] { return full({4, 4}, 0.5); };
  const auto plain = f(x(), w());
  const auto donated = fast(x(), w());
  EXPECT_EQ(values_of(std::get<0>(donated)), values_of(std::get<0>(plain)));
  EXPECT_EQ(values_of(std::get<1>(donated)), values_of(std::get<1>(plain)));
  EXPECT_EQ(values_of(std::get<2>(donated)), values_of(std::get<2>(plain)));
  EXPECT_EQ(values_of(std::get<3>(donated)), values_of(std::get<3>(plain)));
}

TEST_P(Donation, CheckModeStillSeesTheArguments) {
  auto next = ready([](const Tensor& x) { return x + 1.0f; }, floats({0}));
  next.set_check_mode(Check::bits);
  EXPECT_EQ(values_of(next(floats({1}))), Floats{2});
}

TEST_P(Donation, WholeStepOfAdamIsMadeInPlace) {
  struct State {
    Tree parameters;
    AdamState adam;
  };
  const auto loss = [](const Tree& p, const Tensor& x) { return sum(square(matmul(x, p["w"]) + p["b"])); };
  const auto step = [gradient = value_and_grad(loss)](const State& before, const Tensor& x) {
    const auto [value, gradients] = gradient(before.parameters, x);
    const auto made = adam_update(before.parameters, gradients, before.adam);
    return std::pair(value, State{made.parameters, made.state});
  };
  const auto start = [this] {
    const auto all = [this](double value) { return Tree{{"w", full({3, 5}, value)}, {"b", full({5}, value)}}; };
    return State{all(0.25), {all(0), all(0), Tensor::scalar(int32_t{0}).to(*device_)}};
  };
  const Tensor x = full({7, 3}, 0.5);
  auto fast = accelerate(step);
  State moved = start(), kept = start();
  evaluate();
  fast(kept, x);
  std::vector<const void*> memory;
  const auto tensors = [](const State& state) {
    std::vector<const void*> found;
    for (const Tree* tree : {&state.parameters, &state.adam.mean, &state.adam.mean_square})
      for (const auto& tensor : leaf_tensors(*tree)) found.push_back(memory_of(tensor));
    return found;
  };
  memory = tensors(moved);
  for (int i = 0; i < 5; ++i) {
    auto [value, after] = fast(std::move(moved), x);
    moved = std::move(after);
    EXPECT_EQ(tensors(moved), memory) << "parameters and averages stay where they are";
    kept = step(kept, x).second;
  }
  EXPECT_EQ(fingerprint(moved.parameters), fingerprint(kept.parameters));
}

}  // namespace
}  // namespace retrace
