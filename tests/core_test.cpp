// The road from recording to values: when work is done, what is computed, and that planning keeps bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/record.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

TEST(Recording, ComputesWhenAValueIsRead) {
  const Tensor a = Tensor::from<float>({1, 2, 3}, {3}), b = Tensor::from<float>({10, 20, 30}, {3});
  const Tensor c = a + b, d = c * c;
  EXPECT_EQ(current_recording()->trace().nodes.size(), 2u);
  EXPECT_EQ(d.to_vector<float>(), (Floats{121, 484, 1089}));
  EXPECT_EQ(current_recording()->trace().nodes.size(), 0u);
  EXPECT_EQ(c.to_vector<float>(), (Floats{11, 22, 33}));  // computed with d, since somebody held it
}

TEST(Recording, DropsWhatNobodyHolds) {
  const Tensor a = Tensor::from<float>({1, 2}, {2});
  Tensor b = a + a;
  { const Tensor lost = exp(a * b); }
  EXPECT_EQ(b.to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(last_plan()->kernel_calls(), 1u);
}

TEST(Recording, EvaluateComputesEverythingHeld) {
  const Tensor a = Tensor::from<float>({4}, {1});
  const Tensor b = sqrt(a), c = b + 1.0f;
  evaluate();
  EXPECT_EQ(c.value()->pending, nullptr);
  EXPECT_EQ(b.item<float>(), 2);
  EXPECT_EQ(c.item<float>(), 3);
}

TEST(Recording, RefusesTensorsOfAnotherThread) {
  Tensor made;
  std::thread([&] { made = Tensor::from<float>({1}, {1}) + 1.0f; }).join();
  EXPECT_THROW(made.item<float>(), Error);
  EXPECT_THROW(made + made, Error);
}

TEST(PlanCache, FindsPlansByContent) {
  plan_cache().clear();
  set_plan_cache_enabled(true);
  for (float x : {1.0f, 2.0f, 3.0f}) {  // a changing number is an input, not part of the key
    const Tensor y = Tensor::from<float>({x, 1}, {2}) * x;
    EXPECT_EQ(y.to_vector<float>(), (Floats{x * x, x}));
  }
  EXPECT_EQ(plan_cache().misses(), 1);
  EXPECT_EQ(plan_cache().hits(), 2);
  const Tensor other = Tensor::from<float>({1, 2, 3}, {3}) * 2.0f;
  EXPECT_EQ(other.to_vector<float>(), (Floats{2, 4, 6}));
  EXPECT_EQ(plan_cache().misses(), 2);
}

TEST(PlanCache, HoldsAtMost128Plans) {
  plan_cache().clear();
  for (int n = 1; n <= 200; ++n) (Tensor::zeros({n}) + 1.0f).to_vector<float>();
  EXPECT_EQ(plan_cache().size(), 128u);
}

TEST(Broadcasting, AlignsLabelsByName) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}, "BC");
  const Tensor per_batch = Tensor::from<float>({10, 20}, {2}, "B"),
               per_channel = Tensor::from<float>({1, 2, 3}, {3}, "C");
  EXPECT_EQ((x + per_batch).to_vector<float>(), (Floats{11, 12, 13, 24, 25, 26}));
  EXPECT_EQ((x * per_channel).to_vector<float>(), (Floats{1, 4, 9, 4, 10, 18}));
  const Tensor both = per_channel + per_batch;
  EXPECT_EQ(both.labels(), "BC");
  EXPECT_EQ(both.to_vector<float>(), (Floats{11, 12, 13, 21, 22, 23}));
}

TEST(Tensors, TakeLabelsInAnyOrder) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2}, "CB");
  EXPECT_EQ(x.labels(), "BC");
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(Tensor::zeros({2, 3, 4, 5}, DType::f32, "SSCB").shape(), (Shape{5, 2, 3, 4}));
}

TEST(Gradients, OfATree) {
  const auto loss = [](const Tree& p, const Tensor& x) {
    return sum(p["a"].tensor() * x * x + p["b"]["c"].tensor() * x);
  };
  const Tree parameters{{"a", Tensor::from<float>({2, 3}, {2})}, {"b", Tree{{"c", Tensor::from<float>({5, 7}, {2})}}}};
  const auto [value, gradients] = value_and_grad(loss)(parameters, Tensor::from<float>({1, 10}, {2}));
  EXPECT_EQ(value.item<float>(), 2 + 300 + 5 + 70);
  EXPECT_EQ(gradients["a"].tensor().to_vector<float>(), (Floats{1, 100}));
  EXPECT_EQ(gradients["b"]["c"].tensor().to_vector<float>(), (Floats{1, 10}));
}

TEST(Gradients, AreValuesWhenTheOutermostCallReturns) {
  const auto step = value_and_grad([](const Tensor& x) { return sum(x * x); });
  const auto [value, gradient] = step(Tensor::from<float>({3, 4}, {2}));
  EXPECT_EQ(value.value()->pending, nullptr);
  EXPECT_EQ(gradient.value()->pending, nullptr);
  EXPECT_EQ(gradient.to_vector<float>(), (Floats{6, 8}));
}

TEST(Gradients, Nest) {
  // d/dx of (d/dx x^3)^2 = d/dx 9 x^4 = 36 x^3
  const auto inner = [](const Tensor& x) { return sum(x * x * x); };
  const auto outer = [&](const Tensor& x) {
    const auto [value, gradient] = value_and_grad(inner)(x);
    return sum(gradient * gradient);
  };
  const auto [value, gradient] = value_and_grad(outer)(Tensor::from<float>({2, -1}, {2}));
  EXPECT_EQ(value.item<float>(), 144 + 9);
  EXPECT_EQ(gradient.to_vector<float>(), (Floats{288, -36}));
}

TEST(Gradients, OfACapturedOuterValueAreNotTheInnerOnes) {
  const auto outer = [](const Tensor& x) {
    const auto inner = [&](const Tensor& y) { return sum(x * y); };  // x is a constant for the inner gradient
    const auto [value, gradient] = value_and_grad(inner)(x);
    return sum(gradient);  // = sum x
  };
  const auto [value, gradient] = value_and_grad(outer)(Tensor::from<float>({2, 5}, {2}));
  EXPECT_EQ(value.item<float>(), 7);
  EXPECT_EQ(gradient.to_vector<float>(), (Floats{1, 1}));
}

TEST(Gradients, StopWhereToldAndAreZeroWithoutDependence) {
  const auto loss = [](const Tree& p) { return sum(stop_gradient(p["a"].tensor()) * p["b"].tensor()); };
  const Tree parameters{{"a", Tensor::from<float>({2}, {1})},
                        {"b", Tensor::from<float>({3}, {1})},
                        {"c", Tensor::from<float>({1, 1}, {2})}};
  const auto [value, gradients] = value_and_grad(loss)(parameters);
  EXPECT_EQ(gradients["a"].tensor().to_vector<float>(), (Floats{0}));
  EXPECT_EQ(gradients["b"].tensor().to_vector<float>(), (Floats{2}));
  EXPECT_EQ(gradients["c"].tensor().to_vector<float>(), (Floats{0, 0}));
}

TEST(Gradients, SurviveAValueReadInside) {
  float seen = 0;
  const auto loss = [&](const Tensor& x) {
    const Tensor square = x * x;
    seen = square.to_vector<float>()[1];
    return sum(square * x);
  };
  const auto [value, gradient] = value_and_grad(loss)(Tensor::from<float>({1, 2}, {2}));
  EXPECT_EQ(seen, 4);
  EXPECT_EQ(gradient.to_vector<float>(), (Floats{3, 12}));
}

TEST(Gradients, ReturnAuxiliaryResults) {
  const auto loss = [](const Tensor& x) { return WithAux{sum(x * x), Tree{{"twice", x + x}}}; };
  const auto [value, gradient, aux] = value_and_grad(loss)(Tensor::from<float>({1, 2}, {2}));
  EXPECT_EQ(aux["twice"].tensor().to_vector<float>(), (Floats{2, 4}));
}

TEST(Gradients, RefuseALossThatIsNoNumber) {
  int line = 0;
  try {
    line = __LINE__ + 1;
    value_and_grad([](const Tensor& x) { return x * x; })(Tensor::from<float>({1, 2}, {2}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "error[RT0210]: the value to differentiate is not a single number\n"
              "  where:    core_test.cpp:" +
                  std::to_string(line) +
                  "\n"
                  "  got:      f32[2]\n"
                  "  expected: one f32 or f64 element\n"
                  "  help:     sum it, or use a loss such as cross_entropy or mean_squared_error");
  }
}

TEST(Shards, WeighByCounts) {
  // A mean over samples: its gradient over uneven shards is that of the whole batch.
  const auto loss = [](const Tensor& w, const Tensor& x) {
    return WithAux{mean(w * x),
                   Tree{{"x", x}, {"total", sum_over_shards(sum(x))}, {"average", mean_over_shards(mean(x))}}};
  };
  const Tensor w = Tensor::from<float>({2}, {1}), x = Tensor::from<float>({1, 2, 3, 4, 5}, {5, 1}, "BC");
  const auto whole = value_and_grad(loss)(w, x);
  const auto cut = value_and_grad(loss, {.shards = 3})(w, x);
  EXPECT_FLOAT_EQ(cut.value.item<float>(), whole.value.item<float>());
  EXPECT_FLOAT_EQ(cut.gradients.item<float>(), whole.gradients.item<float>());
  EXPECT_EQ(cut.aux["x"].tensor().to_vector<float>(), (Floats{1, 2, 3, 4, 5}));
  EXPECT_EQ(cut.aux["total"].tensor().item<float>(), 15);
  EXPECT_FLOAT_EQ(cut.aux["average"].tensor().item<float>(), 3);
}

TEST(Shards, RefuseResultsWithoutARule) {
  const auto loss = [](const Tensor& w, const Tensor& x) { return WithAux{mean(w * x), Tree{{"m", mean(x)}}}; };
  const Tensor w = Tensor::from<float>({2}, {1}), x = Tensor::from<float>({1, 2}, {2, 1}, "BC");
  EXPECT_THROW(value_and_grad(loss, {.shards = 2})(w, x), Error);
}

// -- random chains: fused equals unfused, to the bit --------------------------------------------------------------

Tensor random_chain(std::mt19937& random, std::vector<Tensor> values) {
  const auto pick = [&] { return values[random() % values.size()]; };
  const int length = 2 + static_cast<int>(random() % 20);
  for (int i = 0; i < length; ++i) {
    const Tensor a = pick(), b = pick();
    switch (random() % 12) {
      case 0: values.push_back(a + b); break;
      case 1: values.push_back(a - b); break;
      case 2: values.push_back(a * b); break;
      case 3: values.push_back(a / b); break;
      case 4: values.push_back(relu(a)); break;
      case 5: values.push_back(where(less(a, b), b, a)); break;
      case 6: values.push_back(exp(a)); break;
      case 7: values.push_back(log(abs(a))); break;
      case 8: values.push_back(sqrt(abs(a))); break;
      case 9: values.push_back(square(a)); break;
      case 10: values.push_back(-a); break;
      default: values.push_back(a * 0.5f + 1); break;
    }
  }
  Tensor result = values.back();
  return result + Tensor::zeros(values[0].shape());
}

std::vector<uint32_t> bits_of(const Tensor& tensor) {
  std::vector<uint32_t> bits;
  for (float x : tensor.to_vector<float>()) bits.push_back(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
  return bits;
}

TEST(Fusion, OneThousandRandomChainsKeepTheirBits) {
  const std::vector<Shape> shapes{{1}, {17}, {3, 5}, {4, 1, 7}, {2, 600}, {0, 4}};
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const Shape shape = shapes[seed % shapes.size()];
    std::vector<Tensor> inputs;
    for (int i = 0; i < 3; ++i) {
      Shape own = shape;
      if (i == 1) own = Shape{shape.back()};                    // broadcast along the last axis
      if (i == 2 && shape.rank() > 1) own[own.rank() - 1] = 1;  // broadcast along the first
      Floats values(static_cast<size_t>(own.count()));
      for (auto& x : values) x = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 250.0f;
      if (!values.empty() && seed % 7 == 0) values[0] = seed % 2 ? INFINITY : -0.0f;
      inputs.push_back(Tensor::from(values, own));
    }
    const auto run = [&] {
      std::mt19937 again(seed + 5000);
      return bits_of(random_chain(again, inputs));
    };
    set_passes_off({});
    const auto fused = run();
    set_passes_off({"fuse_pointwise", "fuse_prologues", "fuse_epilogues", "simplify", "merge_common", "remove_dead",
                    "place_memory"});
    set_plan_cache_enabled(false);
    const auto plain = run();
    set_plan_cache_enabled(true);
    set_passes_off({});
    ASSERT_EQ(fused, plain) << "seed " << seed;
  }
}

// By label the arguments would not fit: what reads a reshape relies on the labels that it gave.
TEST(Passes, AReshapeThatOnlyChangesLabelsStays) {
  const Tensor a = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}, "BC"), b = Tensor::full(1, {2, 2, 3});
  EXPECT_EQ((reshape(a, a.shape()) + b).to_vector<float>(), (Floats{2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6, 7}));
}

TEST(Passes, CanBeSwitchedOffByNameOnly) {
  try {
    set_passes_off({"fuse_pointwize"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "there is no pass \"fuse_pointwize\" to switch off");
    EXPECT_NE(std::string(error.what()).find("did you mean fuse_pointwise?"), std::string::npos);
  }
  EXPECT_THROW(set_passes_off({"lower_composites"}), Error);
}

TEST(Running, TellsWhereAKernelFoundABadValue) {
  const Tensor a = Tensor::from<int32_t>({7, 8}, {2}), zeros = Tensor::from<int32_t>({1, 0}, {2});
  const int line = __LINE__ + 1;
  const Tensor quotient = a / zeros;
  EXPECT_EQ(error_of([&] { quotient.to_vector<int32_t>(); }),
            fmt::format("error[RT0149]: divide: an integer is divided by zero\n"
                        "  where:    {}:{}\n"
                        "  got:      8 / 0\n"
                        "  expected: b without zeros, for integer types\n"
                        "  help:     cast to DType::f32 first, or replace the zeros with where(...)",
                        "core_test.cpp", line));
}

TEST(Running, TellsWhereALabelIsOutOfRange) {
  const Tensor labels = Tensor::from<int32_t>({0, 3}, {2}, "B");
  const int line = __LINE__ + 1;
  const Tensor encoded = one_hot(labels, 3);
  EXPECT_EQ(error_of([&] { encoded.to_vector<float>(); }),
            fmt::format("error[RT0177]: one_hot: label 3 at [1] does not exist\n"
                        "  where:    {}:{}\n"
                        "  got:      i32[2] \"B\"\n"
                        "  expected: values from 0 to 2\n"
                        "  help:     count labels from 0, or ask for more classes",
                        "core_test.cpp", line));
}

}  // namespace
}  // namespace retrace
