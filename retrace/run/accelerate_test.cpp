// What accelerate promises: the bits of f, and f run once for each form of its arguments. What may surprise is in
// tests/surprises_test.cpp.
#include "retrace/run/accelerate.h"

#include <gtest/gtest.h>

#include "retrace/retrace.h"
#include "retrace/run/float_testing.h"

namespace retrace {
namespace {

// -- arguments and results ---------------------------------------------------------------------------------------

TEST(Accelerate, RunsTheFunctionOnceForEachForm) {
  int runs = 0;
  const auto twice = accelerate([&](const Tensor& x) {
    ++runs;
    return x + x;
  });
  EXPECT_EQ(values_of(twice(floats({1, 2}))), (Floats{2, 4}));
  EXPECT_EQ(values_of(twice(floats({3, 4}))), (Floats{6, 8}));
  EXPECT_EQ(values_of(twice(floats({5}))), (Floats{10}));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(twice.hits(), 1);
  EXPECT_EQ(twice.misses(), 2);
}

enum class Kind { sum, difference };
struct Pair {
  Tensor a, b;
};
struct Wide {
  Tensor value;
  Tree parts;
  std::vector<Tensor> list;
  std::tuple<Tensor, int> both;
  int count = 0;
};

TEST(Accelerate, TakesAndReturnsStructsTuplesAndTrees) {
  const auto f = accelerate([](const Pair& pair, const Tree& tree, const std::vector<Tensor>& list, Kind kind,
                               const std::string& name, const Shape& shape) {
    const Tensor value = kind == Kind::sum ? pair.a + pair.b : pair.a - pair.b;
    return Wide{.value = value * tree[name],
                .parts = {{"first", list[0] + 1.0f}, {"inner", Tree{{"second", list[1]}}}},
                .list = {pair.a, value},
                .both = {reshape(value, shape), 7},
                .count = static_cast<int>(list.size())};
  });
  for (float x : {1.0f, 5.0f}) {
    const Wide result = f(Pair{floats({x, 2}), floats({3, 4})}, Tree{{"s", floats({10})}},
                          std::vector{floats({x}), floats({-x})}, Kind::sum, "s", Shape{2, 1});
    EXPECT_EQ(values_of(result.value), (Floats{(x + 3) * 10, 60}));
    EXPECT_EQ(values_of(result.parts["first"]), (Floats{x + 1}));
    EXPECT_EQ(values_of(result.parts["inner"]["second"]), (Floats{-x}));
    EXPECT_EQ(values_of(result.list[0]), (Floats{x, 2}));
    EXPECT_EQ(std::get<0>(result.both).shape(), (Shape{2, 1}));
    EXPECT_EQ(std::get<1>(result.both), 7);
    EXPECT_EQ(result.count, 2);
  }
  EXPECT_EQ(f.hits(), 1);
}

TEST(Accelerate, FloatsAreInputs) {
  int runs = 0;
  const auto scale = accelerate([&](const Tensor& x, const Operand& by) {
    ++runs;
    return x * by;
  });
  EXPECT_EQ(values_of(scale(floats({1, 3}), 2.0f)), (Floats{2, 6}));
  EXPECT_EQ(values_of(scale(floats({1, 3}), 0.5f)), (Floats{0.5, 1.5}));
  EXPECT_EQ(runs, 1);
  // A double is rounded once where it meets a float tensor, as in a plain call.
  const Tensor third = floats({3}) * (1.0 / 3), accelerated = scale(floats({3}), 1.0 / 3);
  EXPECT_EQ(values_of(accelerated), values_of(third));
}

struct Rates {
  Operand rate;
  int steps = 1;
};

TEST(Accelerate, OperandsInStructsAreInputsToo) {
  const auto f = accelerate([](const Tensor& x, const Rates& rates) { return std::pair(x * rates.rate, rates); });
  for (float rate : {0.5f, 2.0f}) {
    const auto [y, rates] = f(floats({2}), Rates{rate});
    EXPECT_EQ(values_of(y), (Floats{2 * rate}));
    EXPECT_EQ(values_of(floats({1}) * rates.rate), (Floats{rate}));
  }
  EXPECT_EQ(f.misses(), 1);
  EXPECT_EQ(values_of(f(floats({2}), Rates{floats({3})}).first),
            (Floats{6}));  // a tensor is another form than a number
  EXPECT_EQ(f.misses(), 2);
}

TEST(Accelerate, PendingArgumentsAreEvaluatedFirst) {
  const auto twice = accelerate([](const Tensor& x) { return x + x; });
  const Tensor pending = floats({1, 2}) * 3.0f;
  const Tensor result = twice(pending);
  EXPECT_EQ(pending.value()->pending, nullptr);
  EXPECT_EQ(result.value()->pending, nullptr);
  EXPECT_EQ(values_of(result), (Floats{6, 12}));
}

TEST(Accelerate, ResultsThatAreArgumentsOrConstantsPassThrough) {
  const Tensor constant = floats({9});
  const auto f = accelerate([&](const Tensor& x) { return std::tuple(x, constant, x + x, x); });
  f(floats({1}));
  const Tensor x = floats({2});
  const auto [same, captured, twice, again] = f(x);
  EXPECT_EQ(same.value(), x.value());
  EXPECT_EQ(again.value(), x.value());
  EXPECT_EQ(captured.value(), constant.value());
  EXPECT_EQ(values_of(twice), (Floats{4}));
}

// -- with gradients ----------------------------------------------------------------------------------------------

Tensor cubes(const Tensor& x) { return sum(x * x * x); }

TEST(Accelerate, WrapsAGradientFunction) {
  const auto plain = value_and_grad(cubes);
  const auto step = accelerate(plain);
  for (const Floats& values : {Floats{1, 2}, Floats{3, -4}}) {
    const auto [value, gradient] = step(floats(values));
    const auto [plain_value, plain_gradient] = plain(floats(values));
    EXPECT_EQ(values_of(value), values_of(plain_value));
    EXPECT_EQ(values_of(gradient), values_of(plain_gradient));
  }
  EXPECT_EQ(step.hits(), 1);
}

TEST(Accelerate, CanBeDifferentiated) {
  const auto square = accelerate([](const Tensor& x) { return x * x; });
  const auto loss = value_and_grad([&](const Tensor& x) { return sum(square(x) * x) + sum(square(x)); });
  for (float x : {1.0f, 2.0f, -3.0f}) {
    const auto [value, gradient] = loss(floats({x}));
    EXPECT_EQ(values_of(gradient), (Floats{3 * x * x + 2 * x}));
  }
  EXPECT_EQ(square.hits(), 5);
  EXPECT_EQ(square.misses(), 1);
}

TEST(Accelerate, Nests) {
  int inner_runs = 0;
  const auto inner = accelerate([&](const Tensor& x) {
    ++inner_runs;
    return x * x;
  });
  const auto outer = accelerate(value_and_grad([&](const Tensor& x) { return sum(inner(inner(x))); }));
  for (float x : {1.0f, 2.0f}) {
    const auto [value, gradient] = outer(floats({x}));
    EXPECT_EQ(values_of(gradient), (Floats{4 * x * x * x}));
  }
  EXPECT_EQ(inner_runs, 1);
  EXPECT_EQ(outer.hits(), 1);
  EXPECT_EQ(inner.hits(), 1);  // the second call inside the recording; the replay calls nothing
  EXPECT_EQ(values_of(inner(floats({5}))), (Floats{25}));
  EXPECT_EQ(inner.why(), "it is called outside of value_and_grad");
}

TEST(Accelerate, SecondDerivatives) {
  const auto gradient_of = accelerate(value_and_grad(cubes));
  const auto outer = value_and_grad([&](const Tensor& x) { return sum(square(gradient_of(x).gradients)); });
  for (float x : {2.0f, -1.0f}) EXPECT_EQ(values_of(outer(floats({x})).gradients), (Floats{36 * x * x * x}));
  EXPECT_EQ(gradient_of.hits(), 1);
}

// -- draws -------------------------------------------------------------------------------------------------------

TEST(Accelerate, DrawsAreThoseOfThePlainFunctionAndFresh) {
  const auto loss = [](const Tensor& w, const Tensor& x) {
    const Tensor noisy = x * uniform(x.shape(), {.labels = "BC"}) + normal({1});
    return WithAux{mean(w * noisy), Tree{{"noisy", noisy}}};
  };
  const auto plain = value_and_grad(loss, {.shards = 3, .seed = 5, .name = "noise"});
  const auto step = accelerate(value_and_grad(loss, {.shards = 3, .seed = 5, .name = "noise"}));
  const Tensor w = floats({2}), x = Tensor::from<float>({1, 2, 3, 4, 5}, {5, 1}, "BC");
  Floats before;
  for (int i = 0; i < 3; ++i) {
    const Floats a = values_of(plain(w, x).aux["noisy"]), b = values_of(step(w, x).aux["noisy"]);
    EXPECT_EQ(a, b);
    EXPECT_NE(b, before);
    before = b;
  }
  EXPECT_EQ(step.hits(), 2);
  EXPECT_EQ(step.calls(), 3);
}

TEST(Accelerate, DrawsOfAPartAreThoseOfTheWhole) {
  const auto noisy = [](const Tensor& x) { return x * uniform(x.shape(), {.labels = "BC"}) + normal({1}); };
  const auto fast = accelerate(noisy);
  const Tensor w = floats({2}), x = Tensor::from<float>({1, 2, 3, 4, 5}, {5, 1}, "BC");
  const auto loss = [](const auto& part) {
    return [&part](const Tensor& weights, const Tensor& samples) {
      const Tensor first = part(samples), second = part(samples);
      return WithAux{mean(weights * first), Tree{{"first", first}, {"second", second}}};
    };
  };
  for (int shards : {1, 2}) {
    const auto a = value_and_grad(loss(noisy), {.shards = shards});
    const auto b = value_and_grad(loss(fast), {.shards = shards});
    for (int i = 0; i < 2; ++i) {
      const auto plain = a(w, x), accelerated = b(w, x);
      EXPECT_EQ(values_of(plain.aux["first"]), values_of(accelerated.aux["first"]));
      EXPECT_EQ(values_of(plain.aux["second"]), values_of(accelerated.aux["second"]));
      EXPECT_NE(values_of(plain.aux["first"]), values_of(plain.aux["second"]));
    }
  }
  EXPECT_GT(fast.hits(), fast.misses());
}

TEST(Accelerate, DrawsOfAGradientInsideAGradient) {
  const Tensor w = floats({2}), x = Tensor::from<float>({1, 2, 3, 4, 5}, {5, 1}, "BC");
  const auto inner = value_and_grad(
      [](const Tensor& v, const Tensor& part) { return mean(v * v * part * uniform(part.shape(), {.labels = "BC"})); },
      {.shards = 2});
  const auto fast = accelerate(inner);
  const auto loss = [](const auto& gradient) {
    return [&gradient](const Tensor& v, const Tensor& part) { return sum(square(gradient(v, part).gradients)); };
  };
  const auto a = value_and_grad(loss(inner), {.shards = 2});
  const auto b = value_and_grad(loss(fast), {.shards = 2});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(values_of(a(w, x).gradients), values_of(b(w, x).gradients));
}

// -- whole loops ----------------------------------------------------------------------------------------------------

struct Learned {
  Tree parameters;
  AdamState adam;
};

Tensor batch_of_ramps(int64_t size, float scale) {
  Floats values(static_cast<size_t>(size) * 2);
  for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i % 7) - 1;
  return Tensor::from(values, {size, 2}, "BC");
}

TEST(Accelerate, ATrainingLoopMissesOnce) {
  const nn::Network network = models::peaks(random_key(1));
  const auto loss = [&](const Tree& p, const Tensor& x) {
    const auto [y, moments] = network.forward(x, p, network.state, Phase::train);
    return network.loss(y, Tree{{"value", Tensor::zeros({x.shape()[0], 1})}});
  };
  const auto train = [&](const auto& step) {
    Learned learned{network.parameters, {}};
    for (int i = 0; i < 20; ++i) {
      const auto [value, gradients] = step(learned.parameters, batch_of_ramps(4, 0.1f * static_cast<float>(i)));
      auto updated = adam_update(learned.parameters, gradients, learned.adam, {.learn_rate = 0.01f});
      learned = {updated.parameters, updated.state};
    }
    return fingerprint(learned.parameters, to_tree(learned.adam));
  };
  const auto step = accelerate(value_and_grad(loss));
  EXPECT_EQ(train(step), train(value_and_grad(loss)));
  EXPECT_EQ(step.calls(), 20);
  EXPECT_EQ(step.misses(), 1);
  EXPECT_DOUBLE_EQ(step.hit_rate(), 95);

  // The update in the same function: one plan a step, a rate that changes, and a state that is there from the start.
  const auto gradient = value_and_grad(loss);
  const auto whole = accelerate([&](const Learned& before, const Tensor& x, const Operand& rate) {
    const auto [value, gradients] = gradient(before.parameters, x);
    auto updated = adam_update(before.parameters, gradients, before.adam, {.learn_rate = rate});
    return Learned{updated.parameters, updated.state};
  });
  const Tree zeros = map(network.parameters, [](const Tensor& x) { return Tensor::zeros(x.shape()); });
  Learned learned{network.parameters, {zeros, zeros, Tensor::scalar(0)}};
  for (int i = 0; i < 20; ++i) learned = whole(learned, batch_of_ramps(4, 0.1f * static_cast<float>(i)), 0.01f);
  EXPECT_EQ(fingerprint(learned.parameters, to_tree(learned.adam)), train(step));
  EXPECT_EQ(whole.misses(), 1);
  whole(learned, batch_of_ramps(4, 1), 0.5f);
  EXPECT_EQ(whole.misses(), 1);
}

TEST(Accelerate, AShortLastMiniBatchMissesOnce) {
  MiniBatchQueue queue(array_store({batch_of_ramps(70, 1)}), {.mini_batch_size = 32});
  const auto predict = accelerate([](const Tensor& x) { return sum(x, 1); });
  for (int pass = 0; pass < 3; ++pass)
    for (queue.reset(); queue.has_data();) predict(queue.next()[0]);
  EXPECT_EQ(predict.hits() + predict.misses(), 9);
  EXPECT_EQ(predict.misses(), 2);
}

}  // namespace
}  // namespace retrace
