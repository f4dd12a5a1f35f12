#include "retrace/ops/scan/scan.h"

#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/linear/linear.h"
#include "retrace/ops/lstm/lstm.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/tanh/tanh.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/run/accelerate.h"
#include "retrace/trace/text.h"

namespace retrace {
namespace {

using Tensors = std::vector<Tensor>;

Tensors decay(const Tensors& in, const ScanOptions& options) {
  const auto made = scan(
      [](const Tree& s, const Tree& x) -> ScanStep {
        const Tensor next = s.tensor() * 0.5 + tanh(x);
        return {next, next * next};
      },
      in[0], in[1], options);
  return {made.state, made.results};
}

// State, xs, weights and recurrent weights, which the body uses from outside.
Tensors recurrence(const Tensors& in) {
  const auto made = scan(
      [&](const Tree& h, const Tree& x) -> ScanStep {
        const Tensor next = tanh(linear(x, in[2]) + matmul(h.tensor(), in[3]));
        return {next, next};
      },
      in[0], in[1]);
  return {made.state, made.results};
}

// No xs: W is applied again and again, and steps are counted.
Tensors powers(const Tensors& in) {
  const Tree state = {{"n", Tensor::zeros({}, DType::i32)}, {"v", in[0]}};
  const auto made = scan(
      [&](const Tree& s, const Tree&) -> ScanStep {
        return {{{"n", s["n"].tensor() + 1}, {"v", tanh(matmul(in[1], s["v"].tensor()))}}, Tree()};
      },
      state, Tree(), {.length = 5});
  return {made.state["v"]};
}

// For each row a scan over its elements.
Tensors nested(const Tensors& in) {
  const auto made = scan(
      [](const Tree& total, const Tree& row) -> ScanStep {
        const auto inner = scan(
            [&](const Tree& s, const Tree& x) -> ScanStep {
              const Tensor next = tanh(s.tensor() + x.tensor() * total.tensor());
              return {next, next};
            },
            total, row);
        return {inner.state, inner.results};
      },
      in[0], in[1]);
  return {made.state, made.results};
}

OP_EXAMPLE(scan, scan(
                     [](const Tree& sum, const Tree& x) {
                       Tensor next = sum.tensor() + x.tensor();
                       return ScanStep{next, next};
                     },
                     Tensor::scalar(0.0f), Tensor::arange(4))
                     .results.tensor());

OP_CASES(scan) {
  const Bound bound{.ulp = 8, .relative = 2e-6}, gradient{.ulp = 8, .relative = 8e-6, .tiny = true};
  const auto of = [&](std::string name, std::vector<CaseInput> inputs, auto build) {
    return OpCase{.op = "scan", .name = name, .inputs = inputs, .build = build, .bound = bound, .gradient = gradient};
  };
  return {of("decay", {{.shape = {3}}, {.shape = {7, 3}}}, [](const Tensors& in) { return decay(in, {}); }),
          of("of_one_step", {{.shape = {3}}, {.shape = {1, 3}}}, [](const Tensors& in) { return decay(in, {}); }),
          of("of_labelled_steps", {{.shape = {2, 3}, .labels = "BC"}, {.shape = {2, 4, 3}, .labels = "BTC"}},
             [](const Tensors& in) { return decay(in, {}); }),
          of("reverse", {{.shape = {3}}, {.shape = {5, 3}}},
             [](const Tensors& in) { return decay(in, {.reverse = true}); }),
          of("recurrence", {{.shape = {4, 3}}, {.shape = {6, 4, 5}}, {.shape = {3, 5}}, {.shape = {3, 3}}}, recurrence),
          of("powers", {{.shape = {3, 2}}, {.shape = {3, 3}}}, powers),
          of("nested", {{.shape = {}}, {.shape = {3, 4}}}, nested)};
}

const RandomKey kKey(7);

void expect_bits(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
  EXPECT_EQ(a.labels(), b.labels());
}

TEST(Scan, IsTheLoopThatItReplaces) {
  const Tensor h = normal({4, 3}, kKey.split("h")), xs = normal({6, 4, 5}, kKey.split("x"));
  const Tensor w = normal({3, 5}, kKey.split("w")), r = normal({3, 3}, kKey.split("r"));
  Tensor state = h;
  Tensors states;
  for (int t = 0; t < 6; ++t) states.push_back(state = tanh(linear(xs[t], w) + matmul(state, r)));
  const auto made = recurrence({h, xs, w, r});
  expect_bits(made[0], state);
  expect_bits(made[1], stack(states));
}

TEST(Scan, PutsStepsWhereTheyBelong) {
  const Tensor xs = normal({2, 4, 3}, kKey, {.labels = "BTC"});
  const auto made = scan([](const Tree& s, const Tree& x) -> ScanStep { return {s.tensor() + x.tensor(), x}; },
                         Tensor::zeros({2, 3}, DType::f32, "BC"), xs);
  expect_bits(made.results, xs);
}

TEST(Scan, TakesNoStepsAtAll) {
  const auto made = decay({Tensor::from<float>({1, 2}, {2}), Tensor::zeros({0, 2})}, {});
  expect_bits(made[0], Tensor::from<float>({1, 2}, {2}));
  EXPECT_EQ(made[1].shape(), (Shape{0, 2}));
}

TEST(Scan, PassesOnWhatItIsGiven) {
  const Tensor outside = Tensor::from<float>({5, 6}, {2});
  const auto made = scan([&](const Tree&, const Tree& x) -> ScanStep { return {outside, x}; }, Tensor::zeros({2}),
                         Tensor::from<float>({1, 2, 3}, {3}));
  expect_bits(made.state, outside);
  expect_bits(made.results, Tensor::from<float>({1, 2, 3}, {3}));
}

// A scan in a scan in a scan, ...
Tensor nested_levels(const Tensor& x, int levels) {
  if (levels == 0) return tanh(x);
  const auto body = [&](const Tree& s, const Tree&) -> ScanStep { return {nested_levels(s, levels - 1), {}}; };
  return scan(body, x, Tree(), {.length = 1}).state;
}

TEST(Scan, NestsToAnyDepth) {
  const Tensor x = normal({3}, kKey);
  expect_bits(nested_levels(x, 20), tanh(x));
  const auto gradient = [&](int levels) {
    return value_and_grad([&](const Tensor& at) { return sum(nested_levels(at, levels)); })(x).gradients;
  };
  expect_bits(gradient(9), gradient(0));
}

TEST(Scan, IsAcceleratedAndDifferentiated) {
  const auto loss = [](const Tree& p, const Tensor& xs) {
    const auto made = recurrence({Tensor::zeros({4, 3}), xs, p["w"], p["r"]});
    return mean(made[1] * made[1]);
  };
  const Tree p = {{"r", normal({3, 3}, kKey.split("r"))}, {"w", normal({3, 5}, kKey.split("w"))}};
  const auto gradient = value_and_grad(loss);
  const auto step = accelerate([&](const Tree& all, const Tensor& xs) { return gradient(all, xs).gradients; });
  for (int i = 0; i < 3; ++i) {
    const Tensor xs = normal({6, 4, 5}, kKey.split(i));
    const Tree plain = gradient(p, xs).gradients, fast = step(p, xs);
    expect_bits(plain["w"], fast["w"]);
    expect_bits(plain["r"], fast["r"]);
  }
  EXPECT_EQ(step.hits(), 2);
}

// Steps share what a kernel has packed of a matrix that all of them multiply by; another call packs its own.
TEST(Scan, StepsShareTheirWeights) {
  const auto run = accelerate([](const Tensor& h, const Tensor& xs, const Tensor& w, const Tensor& r) {
    return scan(
               [&](const Tree& s, const Tree& x) -> ScanStep {
                 const Tensor next = tanh(linear(x, w) + matmul(s, r, {.transpose_b = true}) + matmul(s, r));
                 return {next, next};
               },
               h, xs)
        .results.tensor();
  });
  const Tensor h = normal({32, 96}, kKey.split("h")), xs = normal({5, 32, 80}, kKey.split("x"));
  for (int i = 0; i < 3; ++i) {
    const RandomKey key = kKey.split(i);
    const Tensor w = normal({96, 80}, key.split("w")) * 0.1f, r = normal({96, 96}, key.split("r")) * 0.1f;
    Tensor state = h;
    Tensors states;
    for (int t = 0; t < 5; ++t)
      states.push_back(state = tanh(linear(xs[t], w) + matmul(state, r, {.transpose_b = true}) + matmul(state, r)));
    expect_bits(run(h, xs, w, r), stack(states));
  }
}

// Each row of the next state needs all rows of the state: no thread can go on by itself.
TEST(Scan, StatesThatAreReadWholeKeepThreadsTogether) {
  const Tensor h = normal({64, 64}, kKey.split("h")), xs = normal({20, 64, 64}, kKey.split("x")) * 0.1f;
  const auto run = [&](int threads) {
    const ThreadCountScope scope(threads);
    return scan([](const Tree& s, const Tree& x) -> ScanStep { return {matmul(x, s), matmul(x, s)}; }, h, xs)
        .results.tensor()
        .to_vector<float>();
  };
  const auto one = run(1);
  for (int i = 0; i < 10; ++i)
    for (const int threads : {2, 4}) EXPECT_EQ(run(threads), one) << threads << " threads";
}

// The gradient of a matrix is one product over all steps, that of a vector a sum from the last step to the first.
TEST(Scan, GradientsOfTheUnrolledLoop) {
  const Tensor xs = normal({5, 4, 3}, kKey.split("x"), {.type = DType::f64});
  const Tree p = {{"b", normal({3}, kKey.split("b"), {.type = DType::f64})},
                  {"r", normal({3, 3}, kKey.split("r"), {.type = DType::f64})}};
  const auto next = [](const Tree& all, const Tensor& h, const Tensor& x) {
    return tanh(x + matmul(h, all["r"]) + all["b"].tensor());
  };
  const Tensor zeros = Tensor::zeros({4, 3}, DType::f64);
  const Tree scanned =
      value_and_grad([&](const Tree& all) {
        return sum(scan([&](const Tree& h, const Tree& x) -> ScanStep { return {next(all, h, x), {}}; }, zeros, xs)
                       .state.tensor());
      })(p)
          .gradients;
  const Tree unrolled = value_and_grad([&](const Tree& all) {
                          Tensor h = zeros;
                          for (int t = 0; t < 5; ++t) h = next(all, h, xs[t]);
                          return sum(h);
                        })(p)
                            .gradients;
  for (const char* name : {"b", "r"}) {
    const auto a = scanned[name].tensor().to_vector<double>(), b = unrolled[name].tensor().to_vector<double>();
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-13) << name;
  }
}

TEST(Scan, HasATextThatParses) {
  RecordingScope scope;
  const Tensor h = scope.recording().add_input({DType::f32, {3}, {}, {}}),
               xs = scope.recording().add_input({DType::f32, {7, 3}, {}, {}});
  const auto made = decay({h, xs}, {});
  const Trace trace = scope.recording().take_trace(made);
  EXPECT_EQ(parse_trace(print_trace(trace), op_table()), trace);
  EXPECT_EQ(parse_trace(print_trace(trace), op_table()).hash(), trace.hash());
}

template <class F>
void expect_error(int code, const F& f) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

TEST(Scan, RefusesWhatItCannotDo) {
  const Tensor h = Tensor::zeros({3}), xs = Tensor::ones({4, 3});
  const auto same = [](const Tree& s, const Tree&) -> ScanStep { return {s, {}}; };
  expect_error(261, [&] { scan(same, h, Tree()); });
  expect_error(261, [&] { scan(same, h, xs, {.length = 3}); });
  expect_error(261, [&] { scan(same, h, Tensor::ones({})); });
  expect_error(261, [&] { scan(same, h, Tensor::ones({4, 3}, DType::f32, "BC")); });
  expect_error(262, [&] { scan([](const Tree& s, const Tree&) -> ScanStep { return {sum(s.tensor()), {}}; }, h, xs); });
  expect_error(259, [&] {
    scan(
        [](const Tree& s, const Tree& x) -> ScanStep {
          EXPECT_GT(sum(x.tensor()).item<float>(), 0);
          return {s, {}};
        },
        h, xs);
  });
  expect_error(260, [&] {
    Tensor left;
    scan([&](const Tree& s, const Tree& x) -> ScanStep { return left = s.tensor() + x.tensor(), ScanStep{s, {}}; }, h,
         xs);
    left = left + 1;
  });
  expect_error(263, [&] {
    accelerate([&](const Tensor& all) {
      return scan([](const Tree& s, const Tree&) -> ScanStep { return {s.tensor() + uniform({3}), {}}; }, h, all)
          .state.tensor();
    })(xs);
  });
  expect_bits(decay({h, xs}, {})[0], decay({h, xs}, {})[0]);  // the thread goes on
}

}  // namespace
}  // namespace retrace
