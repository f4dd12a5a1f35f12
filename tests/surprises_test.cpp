// Every way in which a function that is recorded and replayed differs from one that is called, and what happens here:
// in the order of docs/tracing.md.
#include <gtest/gtest.h>

#include <thread>

#include "retrace/retrace.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

Tensor floats(const Floats& values) { return Tensor::from(values, {static_cast<int64_t>(values.size())}); }
Floats values_of(const Tensor& tensor) { return tensor.to_vector<float>(); }

// -- what happens once -------------------------------------------------------------------------------------------

TEST(Surprises, PrintsAndCountersHappenWhenItIsRecorded) {
  std::string printed;
  const auto f = accelerate([&](const Tensor& x) {
    printed += "called ";
    return x + x;
  });
  for (int i = 0; i < 3; ++i) f(floats({1}));
  EXPECT_EQ(printed, "called ");
}

TEST(Surprises, NumbersFromOutsideAreFrozen) {
  float rate = 1;
  auto f = accelerate([&](const Tensor& x) { return x * rate; });
  f(floats({1}));
  rate = 10;
  EXPECT_EQ(values_of(f(floats({1}))), (Floats{1}));
  f.set_check_mode(Check::bits);
  EXPECT_TRUE(says(error_of([&] { f(floats({1})); }), "make it one"));
  // Remedy: an argument.
  const auto g = accelerate([](const Tensor& x, const Operand& r) { return x * r; });
  g(floats({1}), 1.0f);
  EXPECT_EQ(values_of(g(floats({1}), rate)), (Floats{10}));
  EXPECT_EQ(g.hits(), 1);
}

TEST(Surprises, TensorsFromOutsideAreFrozen) {
  Tensor scale = floats({2});
  const auto f = accelerate([&](const Tensor& x) { return x * scale; });
  f(floats({1}));
  scale = floats({3});
  EXPECT_EQ(values_of(f(floats({1}))), (Floats{2}));
}

TEST(Surprises, RecordedTensorsFromOutsideAreRefused) {
  const Tensor pending = floats({2}) + floats({3});
  int line = 0;
  const auto f = accelerate([&](const Tensor& x) {
    line = __LINE__ + 1;
    return x * pending;
  });
  const std::string error = error_of([&] { f(floats({1})); });
  EXPECT_TRUE(says(error, "an accelerated function uses a recorded tensor that is not among its arguments"));
  EXPECT_TRUE(says(error, "surprises_test.cpp:" + std::to_string(line)));
  // So are those of a surrounding function, where no constant would do.
  const auto loss = value_and_grad([&](const Tensor& w) {
    const auto inner = accelerate([&](const Tensor& x) { return x * w; });
    return sum(inner(w));
  });
  EXPECT_TRUE(says(error_of([&] { loss(floats({1})); }), "make it an argument: a replay sees arguments only"));
  // Remedy: an argument; or evaluate(), after which it is a constant.
  evaluate();
  EXPECT_EQ(values_of(f(floats({1}))), (Floats{5}));
}

TEST(Surprises, HostNumbersInAResultAreFrozen) {
  int calls = 0;
  const auto f = accelerate([&](const Tensor& x) { return std::pair(x + x, ++calls); });
  f(floats({1}));
  EXPECT_EQ(f(floats({1})).second, 1);
}

TEST(Surprises, WhatLeavesOtherwiseThanByReturnHasNoValue) {
  Tensor leaked;
  const auto f = accelerate([&](const Tensor& x) {
    leaked = x + x;
    return leaked * x;
  });
  f(floats({1}));
  EXPECT_TRUE(says(error_of([&] { leaked.to_vector<float>(); }), "a value is read inside an accelerated function"));
  EXPECT_TRUE(says(error_of([&] { exp(leaked); }), "without being returned by it"));
}

TEST(Surprises, ChangingATreeArgumentInsideChangesACopy) {
  const auto f = accelerate([](Tree p) {
    p["a"] = Tree(p["a"].tensor() + 1.0f);
    return p;
  });
  const Tree p{{"a", floats({1})}};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(values_of(f(p)["a"]), (Floats{2}));
  EXPECT_EQ(values_of(p["a"]), (Floats{1}));
}

TEST(Surprises, LoopsAreUnrolled) {
  const auto f = accelerate([](Tensor x, int times) {
    for (int i = 0; i < times; ++i) x = x * x;
    return x;
  });
  EXPECT_EQ(values_of(f(floats({2}), 3)), (Floats{256}));
  EXPECT_EQ(values_of(f(floats({3}), 3)), (Floats{6561}));
  EXPECT_EQ(values_of(f(floats({2}), 2)), (Floats{16}));
  EXPECT_EQ(f.misses(), 2);
}

// -- what is refused ---------------------------------------------------------------------------------------------

TEST(Surprises, ReadingAValueIsAnErrorWithItsLine) {
  int line = 0;
  const auto branch = accelerate([&](const Tensor& x) {
    const Tensor y = x + x;
    line = __LINE__ + 1;
    return y.item<float>() > 0 ? y : x;
  });
  std::string error = error_of([&] { branch(floats({1})); });
  EXPECT_EQ(
      error,
      "error[RT0250]: a value is read inside an accelerated function\n"
      "  where:    surprises_test.cpp:" +
          std::to_string(line) +
          "\n"
          "  got:      the function accelerated at surprises_test.cpp:" +
          std::to_string(line - 3) +
          ", while it is recorded\n"
          "  help:     return the tensor and read it outside; set_enabled(false), or leaving accelerate away, runs "
          "the function");
  const auto print = accelerate([&](const Tensor& x) {
    line = __LINE__ + 1;
    text_of(x);
    return x;
  });
  error = error_of([&] { print(floats({1})); });
  EXPECT_TRUE(says(error, "surprises_test.cpp:" + std::to_string(line)));
  const auto force = accelerate([&](const Tensor& x) {
    line = __LINE__ + 1;
    evaluate();
    return x;
  });
  error = error_of([&] { force(floats({1})); });
  EXPECT_TRUE(says(error, "surprises_test.cpp:" + std::to_string(line)));
  // Remedies: where() on the device, a boolean argument, or the function switched off.
  const auto chosen = accelerate([](const Tensor& x, bool positive) { return positive ? x + x : x; });
  EXPECT_EQ(values_of(chosen(floats({3}), true)), (Floats{6}));
  EXPECT_EQ(values_of(chosen(floats({3}), false)), (Floats{3}));
  auto off = branch;
  off.set_enabled(false);
  EXPECT_EQ(values_of(off(floats({1}))), (Floats{2}));
}

TEST(Surprises, ReadingIsAnErrorInsideNestedFunctionsToo) {
  // The value belongs to the function around the accelerated one.
  const auto outer = value_and_grad([&](const Tensor& w) {
    const auto inner = accelerate([&](const Tensor& x) { return w.item<float>() > 0 ? x : x + x; });
    return sum(inner(w * w));
  });
  EXPECT_TRUE(says(error_of([&] { outer(floats({1})); }), "a value is read inside an accelerated function"));
  const auto step = accelerate(value_and_grad([](const Tensor& x) { return x.number() > 0 ? sum(x) : sum(x * x); }));
  EXPECT_TRUE(says(error_of([&] { step(floats({1})); }), "a value is read inside an accelerated function"));
}

TEST(Surprises, QueuesAndStoresAreRefused) {
  const Datastore store = array_store({Tensor::from<float>({1, 2, 3}, {3, 1}, "BC")});
  MiniBatchQueue queue(store, {.mini_batch_size = 1});
  int line = 0;
  const auto f = accelerate([&](const Tensor& x) {
    line = __LINE__ + 1;
    return x + queue.next()[0];
  });
  const std::string error = error_of([&] { f(floats({1})); });
  EXPECT_TRUE(says(error, "a mini-batch queue is used inside an accelerated function"));
  EXPECT_TRUE(says(error, "surprises_test.cpp:" + std::to_string(line)));
  EXPECT_EQ(queue.position().next, 0);
  const auto g = accelerate([&](const Tensor& x) { return x + store.preview()[0]; });
  EXPECT_TRUE(says(error_of([&] { g(floats({1})); }), "a datastore is used inside an accelerated function"));
  const auto step = accelerate(value_and_grad([&](const Tensor& x) { return sum(x * queue.next()[0]); }));
  EXPECT_TRUE(says(error_of([&] { step(floats({1})); }), "a mini-batch queue is used inside an accelerated function"));
  EXPECT_EQ(queue.next()[0].item<float>(), 1);
}

TEST(Surprises, EndlessRecursionIsAnError) {
  std::function<Tensor(const Tensor&, int)> again;
  const auto f = accelerate([&](const Tensor& x, int depth) -> Tensor { return depth ? again(x + x, depth - 1) : x; });
  again = f;
  EXPECT_EQ(values_of(f(floats({1}), 4)), (Floats{16}));
  EXPECT_EQ(f.misses(), 5);
  EXPECT_EQ(values_of(f(floats({1}), 4)), (Floats{16}));
  const auto g = accelerate([&](const Tensor& x, int depth) -> Tensor { return again(x + x, depth); });
  again = g;
  EXPECT_TRUE(says(error_of([&] { g(floats({1}), 1); }), "calls itself with the same arguments"));
}

TEST(Surprises, ASecondThreadIsRefused) {
  const auto f = accelerate([](const Tensor& x) { return x + x; });
  f(floats({1}));
  std::string error;
  std::thread([&] { error = error_of([&] { f(floats({1})); }); }).join();
  EXPECT_TRUE(says(error, "an accelerated function is called by a second thread"));
  // It belongs to the thread that calls it first, not to the one that makes it.
  const auto g = accelerate([](const Tensor& x) { return x + x; });
  Floats values;
  std::thread([&] { values = values_of(g(floats({2}))); }).join();
  EXPECT_EQ(values, (Floats{4}));
}

// -- what is a new trace
// ------------------------------------------------------------------------------------------------

TEST(Surprises, WholeNumbersAreInTheKeyAndFloatsAreNot) {
  const auto f = accelerate([](const Tensor& x, int iteration, const Operand& rate) { return x * rate + iteration; });
  for (int i = 0; i < 3; ++i) f(floats({1}), i, 0.5f);
  EXPECT_EQ(f.misses(), 3);
  for (float rate : {0.1f, 0.2f, 0.3f}) f(floats({1}), 0, rate);
  EXPECT_EQ(f.hits(), 3);
  // Remedy: a counter that is a tensor.
  const auto g = accelerate([](const Tensor& x, const Tensor& iteration) { return x + cast(iteration, DType::f32); });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(values_of(g(floats({1}), Tensor::scalar(i))), (Floats{1.0f + static_cast<float>(i)}));
  EXPECT_EQ(g.hits(), 2);
}

TEST(Surprises, ShapeTypeLabelsAndStructureAreInTheKey) {
  const auto f = accelerate([](const Tree& p) { return p; });
  const Tensor x = Tensor::zeros({2, 3});
  f(Tree{{"a", x}});
  f(Tree{{"a", Tensor::zeros({3, 3})}});                    // a short mini-batch
  f(Tree{{"a", Tensor::zeros({2, 3}, DType::f64)}});        // type
  f(Tree{{"a", Tensor::zeros({2, 3}, DType::f32, "BC")}});  // labels
  f(Tree{{"b", x}});                                        // names
  f(Tree{{"a", Tree{{"a", x}}}});                           // nesting
  f(Tree{{"a", Tree(x).set_mark("mean")}});                 // what the tree means
  f(Tree());                                                // nothing
  EXPECT_EQ(f.misses(), 8);
  f(Tree{{"a", Tensor::full(5, {2, 3})}});  // values are not
  EXPECT_EQ(f.hits(), 1);
}

TEST(Surprises, AnEmptyStateIsAnotherFormThanAStateWithTensors) {
  const auto update = accelerate([](const Tree& p, const Tree& g, const AdamState& state) {
    return adam_update(p, g, state, {.learn_rate = 0.1f});
  });
  AdamState state;
  Tree p{{"w", floats({1, 2})}};
  for (int i = 0; i < 3; ++i) {
    const auto updated = update(p, Tree{{"w", floats({1, 1})}}, state);
    p = updated.parameters, state = updated.state;
  }
  EXPECT_EQ(update.misses(), 2);
}

TEST(Surprises, ANewObjectHasAnEmptyCache) {
  const auto twice = [](const Tensor& x) { return x + x; };
  for (int i = 0; i < 2; ++i) {
    const auto f = accelerate(twice);  // inside of the loop: never a hit
    f(floats({1}));
    EXPECT_EQ(f.hits(), 0);
  }
}

TEST(Surprises, TheSameTensorTwiceIsNoFormOfItsOwn) {
  const auto f = accelerate([](const Tensor& a, const Tensor& b) { return a - b; });
  const Tensor x = floats({3});
  EXPECT_EQ(values_of(f(x, x)), (Floats{0}));
  EXPECT_EQ(values_of(f(x, floats({1}))), (Floats{2}));
  EXPECT_EQ(f.hits(), 1);
}

// -- what is fresh
// ------------------------------------------------------------------------------------------------------

TEST(Surprises, DrawsAreFreshUnlessTheirKeyIsFrozen) {
  const auto f = accelerate([](const Tensor& x) { return x * uniform({1}); });
  EXPECT_NE(values_of(f(floats({1}))), values_of(f(floats({1}))));
  // Equal keys give equal numbers, in a plain call too.
  const auto g = accelerate([](const Tensor& x) { return x * uniform({1}, random_key(1)); });
  EXPECT_EQ(values_of(g(floats({1}))), values_of(g(floats({1}))));
  // A key as an argument is part of the form: each key is recorded.
  const auto h = accelerate([](const Tensor& x, RandomKey key) { return x * uniform({1}, key); });
  EXPECT_NE(values_of(h(floats({1}), random_key(1))), values_of(h(floats({1}), random_key(2))));
  EXPECT_EQ(h.misses(), 2);
}

TEST(Surprises, CallsOfAReplayAreNotMade) {
  int calls = 0;
  const auto inner = [&](const Tensor& x) {
    ++calls;
    return x + x;
  };
  const auto fast = accelerate(inner);
  const auto outer = accelerate([&](const Tensor& x) { return fast(x) + fast(x); });
  for (int i = 0; i < 3; ++i) outer(floats({1}));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(fast.hits() + fast.misses(), 2);
}

// -- what stays usable
// ----------------------------------------------------------------------------------------------------

TEST(Surprises, WhatIsMovedInIsGoneAndWhatIsHeldIsNot) {
  auto f = accelerate([](const Tensor& x) { return x + 1.0f; });
  f(floats({0}));
  for (const bool enabled : {true, false}) {
    f.set_enabled(enabled);
    Tensor x = floats({1}), held = floats({4});
    const Tensor copy = held;
    const void* const memory = x.data();
    const Tensor next = f(std::move(x));
    EXPECT_EQ(values_of(next), Floats{2});
    EXPECT_EQ(next.data() == memory, enabled);
    EXPECT_FALSE(x.defined());
    EXPECT_EQ(values_of(f(std::move(held))), Floats{5});
    EXPECT_EQ(values_of(copy), Floats{4});
  }
}

TEST(Surprises, AnExceptionLeavesTheCacheAsItWas) {
  bool fail = false;
  const auto f = accelerate([&](const Tensor& x) {
    if (fail) throw std::runtime_error("no");
    return x + x;
  });
  f(floats({1}));
  fail = true;
  EXPECT_THROW(f(floats({1, 2})), std::runtime_error);
  EXPECT_EQ(f.misses(), 1);
  EXPECT_EQ(values_of(f(floats({2}))), (Floats{4}));  // a hit runs nothing
  fail = false;
  EXPECT_EQ(values_of(f(floats({1, 2}))), (Floats{2, 4}));
}

TEST(Surprises, TensorsWithoutAValueAreTheFunctionsToJudge) {
  const auto f = accelerate([](const Tensor& x, const Tensor& y) { return y.defined() ? x + y : x + x; });
  EXPECT_EQ(values_of(f(floats({1}), Tensor())), (Floats{2}));
  EXPECT_EQ(values_of(f(floats({1}), floats({5}))), (Floats{6}));
  Tensor moved = floats({1});
  const Tensor kept = std::move(moved);
  EXPECT_TRUE(says(error_of([&] { f(moved, kept); }), "whose value was moved away"));
}

TEST(Surprises, AMovedFromFunctionStillWorks) {
  auto f = accelerate([](const Tensor& x) { return x + x; });
  const auto g = std::move(f);
  EXPECT_EQ(values_of(g(floats({1}))), (Floats{2}));
  EXPECT_EQ(values_of(f(floats({1}))), (Floats{2}));
}

}  // namespace
}  // namespace retrace
