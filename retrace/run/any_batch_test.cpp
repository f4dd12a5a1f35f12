// One recording for many sizes of the mini-batch: the bits are those of the plain function.
#include <gtest/gtest.h>

#include "retrace/retrace.h"
#include "retrace/run/float_testing.h"

namespace retrace {
namespace {

Tensor ones(int64_t batch, double value = 1) { return Tensor::full(value, {batch, 1}, DType::f32, "BC"); }
Tensor ramp(int64_t batch, int64_t channels) {
  Floats values(static_cast<size_t>(batch * channels));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 16;
  return Tensor::from(values, {batch, channels}, "BC");
}

TEST(AnyBatch, OneRecordingServesAllSizesFromTwoOn) {
  const nn::Network network = models::peaks(random_key(3));
  const auto loss = [&](const Tree& p, const Tensor& x, const Tensor& t) {
    const auto [y, moments] = network.forward(x, p, network.state, Phase::train);
    return WithAux<Tree>{network.loss(y, Tree{{"value", t}}), y};
  };
  const auto plain = value_and_grad(loss);
  const auto step = accelerate(plain, {.any_batch = true});
  for (int64_t batch = 600; batch > 0; batch = batch > 70 ? batch - 37 : batch - 1) {
    SCOPED_TRACE(batch);
    const Tensor x = ramp(batch, 2), t = ramp(batch, 1);
    const auto a = plain(network.parameters, x, t), b = step(network.parameters, x, t);
    EXPECT_EQ(fingerprint(a.gradients, a.aux), fingerprint(b.gradients, b.aux));
    EXPECT_EQ(a.aux["value"].tensor().spec(), b.aux["value"].tensor().spec());
    EXPECT_EQ(values_of(a.value), values_of(b.value));
  }
  EXPECT_EQ(step.misses(), 2);  // a batch of one sample is recorded for itself
}

// Each pair of sizes is recorded for itself, and no number that follows one of them is taken for the other.
TEST(AnyBatch, OfArgumentsOfTwoSizes) {
  const auto plain = value_and_grad([](const Tensor& w, const Tensor& inner, const Tensor& border) {
    return mean(w * inner) + sum(w * w * border) / static_cast<int>(border.shape()[0]);
  });
  const auto step = accelerate(plain, {.any_batch = true});
  const Tensor w = Tensor::full(2, {1}, "C");
  for (const auto& [inner, border] : {std::pair(6, 2), std::pair(6, 3), std::pair(2, 6), std::pair(4, 4)}) {
    const auto a = plain(w, ramp(inner, 1), ramp(border, 1)), b = step(w, ramp(inner, 1), ramp(border, 1));
    EXPECT_EQ(fingerprint(a.gradients), fingerprint(b.gradients)) << inner << " " << border;
    EXPECT_EQ(values_of(a.value), values_of(b.value));
  }
}

TEST(AnyBatch, OfConvolutionsAndBatchNorm) {
  const nn::Network network = models::digits(random_key(3), {.width = 2});
  const auto loss = [&](const Tree& p, const Tensor& x, const Tree& targets) {
    const auto [y, moments] = network.forward(x, p, network.state, Phase::train);
    return WithAux<Tree>{network.loss(y, targets), moments};
  };
  const auto plain = value_and_grad(loss);
  const auto step = accelerate(plain, {.any_batch = true, .check_mode = Check::bits});
  for (int64_t batch : {4, 2, 3, 9, 17}) {
    const Tensor x = reshape(ramp(batch, 784), {batch, 28, 28, 1}, "BSSC");
    const Tree targets{{"class", Tensor::full(3, {batch}, DType::i32, "B")}, {"angle", ramp(batch, 1)}};
    const auto a = plain(network.parameters, x, targets), b = step(network.parameters, x, targets);
    EXPECT_EQ(fingerprint(a.gradients, a.aux), fingerprint(b.gradients, b.aux)) << batch;
  }
  EXPECT_EQ(step.misses(), 1);
}

TEST(AnyBatch, InsideAGradient) {
  int runs = 0;
  const auto part = accelerate([&](const Tensor& x) { return ++runs, mean(x * x) + sum(x); }, {.any_batch = true});
  const auto loss = value_and_grad([&](const Tensor& w, const Tensor& x) { return part(x * w); });
  const auto plain = value_and_grad([](const Tensor& w, const Tensor& x) {
    const Tensor y = x * w;
    return mean(y * y) + sum(y);
  });
  for (int64_t batch : {3, 5, 700}) {
    const Tensor w = Tensor::from<float>({2}, {1}), x = ramp(batch, 3);
    EXPECT_EQ(values_of(loss(w, x).gradients), values_of(plain(w, x).gradients));
  }
  EXPECT_EQ(part.misses(), 1);
  EXPECT_EQ(runs, 4);  // at this size and at three others
}

TEST(AnyBatch, DrawsAreThoseOfThePlainFunction) {
  const auto noisy = [](const Tensor& x) { return x + uniform(x.shape(), {.labels = "BC"}); };
  auto plain = accelerate(noisy);
  plain.set_enabled(false);
  const auto fast = accelerate(noisy, {.any_batch = true});
  for (int64_t batch : {3, 5, 4}) EXPECT_EQ(values_of(plain(ones(batch))), values_of(fast(ones(batch))));
  EXPECT_EQ(fast.misses(), 1);
}

// -- where one recording does not do --------------------------------------------------------------------------------

struct Refusal {
  const char* name;
  std::function<Tensor(const Tensor&)> function;
  const char* reason;
};

class AnyBatchRefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(AnyBatchRefusalTest, EachSizeIsRecorded) {
  const auto fast = accelerate(GetParam().function, {.any_batch = true});
  for (int64_t batch : {6, 99, 6})
    EXPECT_EQ(values_of(fast(ramp(batch, 1))), values_of(GetParam().function(ramp(batch, 1))));
  EXPECT_EQ(fast.misses(), 2);
  EXPECT_EQ(fast.hits(), 1);
  const std::string why = fast.why();
  EXPECT_NE(why.find("argument 1: f32[6,1] \"BC\" became f32[99,1] \"BC\" (any_batch does not hold: "),
            std::string::npos)
      << why;
  EXPECT_NE(why.find(GetParam().reason), std::string::npos) << why;
}

int64_t batch_of(const Tensor& x) { return x.shape()[0]; }

INSTANTIATE_TEST_SUITE_P(
    Functions, AnyBatchRefusalTest,
    testing::Values(Refusal{"fixed", [](const Tensor& x) { return reshape(x, {3, batch_of(x) / 3}); }, "reshape"},
                    Refusal{"half", [](const Tensor& x) { return slice(x, {.end = {batch_of(x) / 2}}); },
                            "slice at any_batch_test.cpp:"},
                    Refusal{"host", [](const Tensor& x) { return x * (1.0f / static_cast<float>(batch_of(x))); },
                            "a number or tensor made on the host depends on the batch"},
                    Refusal{"branch", [](const Tensor& x) { return batch_of(x) > 50 ? x + x : x * x; },
                            "other operations are recorded for another batch"},
                    Refusal{"one_size", [](const Tensor& x) { return batch_of(x) == 6 ? x + x : x * x; },
                            "other operations are recorded for another batch"},
                    Refusal{"shards",
                            [](const Tensor& x) {
                              const auto loss = [](const Tensor& w, const Tensor& part) { return mean(w * part); };
                              return value_and_grad(loss, {.shards = 4})(Tensor::from<float>({2}, {1}), x).gradients;
                            },
                            ""}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AnyBatch, HostNumbersInTheResultAreThoseOfTheSize) {
  const auto f = accelerate([](const Tensor& x) { return std::pair(x + x, batch_of(x)); }, {.any_batch = true});
  for (int64_t batch : {3, 99}) EXPECT_EQ(f(ones(batch)).second, batch);
}

TEST(AnyBatch, DifferentSizesInOneCallAreRecordedExactly) {
  const auto join = accelerate([](const Tensor& a, const Tensor& b) { return sum(a) + sum(b); }, {.any_batch = true});
  EXPECT_EQ(values_of(join(ones(2), ones(3))), (Floats{5}));
  EXPECT_EQ(values_of(join(ones(3), ones(3))), (Floats{6}));
  EXPECT_EQ(values_of(join(ones(9), ones(9))), (Floats{18}));
  EXPECT_EQ(join.misses(), 2);
}

}  // namespace
}  // namespace retrace
