#include "retrace/ops/lstm/lstm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/gru/gru.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/rnn/rnn.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

// x, weights, recurrent weights, bias of 3 hidden numbers; states where there are 6 inputs.
std::vector<Tensor> run_lstm(const std::vector<Tensor>& in) {
  const LstmState state = in.size() > 4 ? LstmState{in[4], in[5]} : LstmState();
  const LstmResult made = lstm(in[0], {in[1], in[2], in[3]}, state);
  return {made.y, made.state.h, made.state.c};
}
std::vector<Tensor> run_gru(const std::vector<Tensor>& in) {
  const GruResult made = gru(in[0], {in[1], in[2], in[3], in[4]}, in.size() > 5 ? in[5] : Tensor());
  return {made.y, made.h};
}

std::vector<Tensor> run_rnn(const std::vector<Tensor>& in) {
  const RnnResult made = rnn(in[0], {in[1], in[2], in[3]}, in.size() > 4 ? in[4] : Tensor());
  return {made.y, made.h};
}
// From the end, where positions 0 and 2 of the first sequence count, and all of the second.
std::vector<Tensor> run_masked(const std::vector<Tensor>& in) {
  const RecurrenceOptions options{.mask = cast(in[4], DType::boolean), .reverse = true};
  const LstmResult made = lstm(in[0], {in[1], in[2], in[3]}, {}, options);
  return {made.y, made.state.h, made.state.c};
}

OP_EXAMPLE(lstm,
           lstm(Tensor::ones({1, 3, 2}), {Tensor::full(0.1, {4, 2}), Tensor::full(0.1, {4, 1}), Tensor::zeros({4})}).y);

OP_CASES(lstm) {
  const Bound bound{.ulp = 8, .relative = 2e-6}, gradient{.ulp = 8, .relative = 8e-6, .tiny = true};
  const CaseInput x{.shape = {2, 4, 5}, .labels = "BTC"}, state{.shape = {2, 3}};
  const CaseInput mask{.shape = {2, 4}, .type = DType::i32, .values = {1, 0, 1, 0, 1, 1, 1, 1}};
  const auto of = [](int64_t gates) {
    return std::vector<CaseInput>{{.shape = {gates * 3, 5}}, {.shape = {gates * 3, 3}}, {.shape = {gates * 3}}};
  };
  const auto one = of(1), four = of(4), three = of(3);
  return {{.op = "scan",
           .name = "lstm",
           .inputs = {x, four[0], four[1], four[2]},
           .build = run_lstm,
           .bound = bound,
           .gradient = gradient},
          {.op = "scan",
           .name = "lstm_with_state",
           .inputs = {x, four[0], four[1], four[2], state, state},
           .build = run_lstm,
           .bound = bound,
           .gradient = gradient},
          {.op = "scan",
           .name = "lstm_of_one_position",
           .inputs = {{.shape = {2, 1, 5}}, four[0], four[1], four[2]},
           .build = run_lstm,
           .bound = bound,
           .gradient = gradient},
          {.op = "scan",
           .name = "gru",
           .inputs = {x, three[0], three[1], three[2], three[2]},
           .build = run_gru,
           .bound = bound,
           .gradient = gradient},
          {.op = "scan",
           .name = "rnn",
           .inputs = {x, one[0], one[1], one[2], state},
           .build = run_rnn,
           .bound = bound,
           .gradient = gradient},
          {.op = "scan",
           .name = "lstm_of_some_positions_from_the_end",
           .inputs = {x, four[0], four[1], four[2], mask},
           .build = run_masked,
           .bound = bound,
           .gradient = gradient},
          {.op = "scan",
           .name = "gru_with_state",
           .inputs = {x, three[0], three[1], three[2], three[2], state},
           .build = run_gru,
           .bound = bound,
           .gradient = gradient}};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One feature and one hidden number: the formulas as they stand.
TEST(Lstm, IsItsFormula) {
  const auto x = Tensor::from<double>({0.5, -1, 2}, {1, 3, 1});
  const auto w = Tensor::from<double>({0.1, 0.2, 0.3, 0.4}, {4, 1}),
             r = Tensor::from<double>({0.5, -0.6, 0.7, 0.8}, {4, 1}),
             b = Tensor::from<double>({0.01, 1, -0.02, 0.03}, {4});
  double h = 0, c = 0;
  const auto y = lstm(x, {w, r, b}).y.to_vector<double>();
  for (int t = 0; t < 3; ++t) {
    double a[4];
    for (int k = 0; k < 4; ++k)
      a[k] =
          x.to_vector<double>()[t] * w.to_vector<double>()[k] + b.to_vector<double>()[k] + h * r.to_vector<double>()[k];
    c = sigmoid(a[1]) * c + sigmoid(a[0]) * std::tanh(a[2]);
    h = sigmoid(a[3]) * std::tanh(c);
    EXPECT_NEAR(y[t], h, 1e-14);
  }
}

TEST(Gru, IsItsFormula) {
  const auto x = Tensor::from<double>({0.5, -1, 2}, {1, 3, 1});
  const auto w = Tensor::from<double>({0.1, 0.2, 0.3}, {3, 1}), r = Tensor::from<double>({0.5, -0.6, 0.7}, {3, 1}),
             b = Tensor::from<double>({0.01, 1, -0.02}, {3}), q = Tensor::from<double>({0.3, -0.4, 0.6}, {3});
  double h = 0;
  const auto y = gru(x, {w, r, b, q}).y.to_vector<double>();
  for (int t = 0; t < 3; ++t) {
    const auto part = [&](int k) {
      return x.to_vector<double>()[t] * w.to_vector<double>()[k] + b.to_vector<double>()[k];
    };
    const auto own = [&](int k) { return h * r.to_vector<double>()[k] + q.to_vector<double>()[k]; };
    const double reset = sigmoid(part(0) + own(0)), z = sigmoid(part(1) + own(1)),
                 n = std::tanh(part(2) + reset * own(2));
    h = (1 - z) * n + z * h;
    EXPECT_NEAR(y[t], h, 1e-14);
  }
}

TEST(Rnn, IsItsFormula) {
  const auto x = Tensor::from<double>({0.5, -1, 2}, {1, 3, 1});
  const auto w = Tensor::full(0.3, {1, 1}, DType::f64), b = Tensor::full(0.1, {1}, DType::f64);
  double h = 0;
  const auto y = rnn(x, {w, w, b}).y.to_vector<double>();
  for (int t = 0; t < 3; ++t) EXPECT_NEAR(y[t], h = std::tanh(x.to_vector<double>()[t] * 0.3 + 0.1 + h * 0.3), 1e-14);
}

// A sequence that ends early has the states of the short one, and zeros behind it.
TEST(Lstm, LeavesOutMaskedPositions) {
  const auto x = Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 4, 2});
  const auto w = Tensor::full(0.1, {4, 2}), r = Tensor::full(0.2, {4, 1}), b = Tensor::full(0.3, {4});
  const Tensor mask = Tensor::arange(4) < 2;
  const auto some = lstm(x, {w, r, b}, {}, {.mask = reshape(mask, {1, 4})});
  const auto brief = lstm(Tensor::from<float>({1, 2, 3, 4}, {1, 2, 2}), {w, r, b});
  EXPECT_EQ(some.state.h.to_vector<float>(), brief.state.h.to_vector<float>());
  EXPECT_EQ(some.state.c.to_vector<float>(), brief.state.c.to_vector<float>());
  auto padded = brief.y.to_vector<float>();
  padded.resize(4);
  EXPECT_EQ(some.y.to_vector<float>(), padded);
  EXPECT_THROW(lstm(x, {w, r, b}, {}, {.mask = mask}), Error);
}

// A sequence in two parts, the second from the state behind the first.
// Threads take samples of their own through all positions; gradients add up over all samples.
TEST(Lstm, HasTheSameBitsWithAnyThreads) {
  const RandomKey key = random_key(7);
  const Tensor mask = greater(normal({37, 6}, key.split("mask")), Tensor::scalar(-1.0f));
  const Tree layer{{"w", normal({20, 3}, key.split("w"))},
                   {"r", normal({20, 5}, key.split("r"))},
                   {"b", normal({20}, key.split("b"))},
                   {"x", normal({37, 6, 3}, key.split("x"))}};
  const auto step = [&](bool masked) {
    const auto loss = [&](const Tree& p) {
      const LstmParameters parameters{p["w"].tensor(), p["r"].tensor(), p["b"].tensor()};
      const LstmResult made =
          lstm(p["x"].tensor(), parameters, {}, {.mask = masked ? mask : Tensor(), .reverse = masked});
      return sum(made.y * made.y) + sum(made.state.c);
    };
    std::vector<std::vector<float>> bits;
    const auto [value, gradients] = value_and_grad(loss)(layer);
    for (const auto& [name, tensor] : leaves(gradients)) bits.push_back(tensor.to_vector<float>());
    bits.push_back(lstm(layer["x"].tensor(), {layer["w"].tensor(), layer["r"].tensor(), layer["b"].tensor()})
                       .y.to_vector<float>());
    const Tensor w = slice(layer["w"].tensor(), 0, {0, 15}), r = slice(layer["r"].tensor(), 0, {0, 15});
    const Tensor b = slice(layer["b"].tensor(), 0, {0, 15});
    bits.push_back(gru(layer["x"].tensor(), {w, r, b, b}).y.to_vector<float>());
    bits.push_back(value.to_vector<float>());
    return bits;
  };
  for (const bool masked : {false, true}) {
    std::vector<std::vector<float>> first;
    for (const int threads : {1, 2, 3, 4}) {
      const ThreadCountScope scope(threads);
      const auto bits = step(masked);
      if (threads == 1) first = bits;
      EXPECT_EQ(bits, first) << threads << " threads" << (masked ? ", masked" : "");
    }
  }
}

TEST(Lstm, GoesOnFromAState) {
  const auto x = Tensor::from<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 4, 2});
  const auto w = Tensor::full(0.1, {4, 2}), r = Tensor::full(0.2, {4, 1}), b = Tensor::full(0.3, {4});
  const auto whole = lstm(x, {w, r, b});
  const auto first = lstm(Tensor::from<float>({1, 2, 3, 4}, {1, 2, 2}), {w, r, b});
  const auto second = lstm(Tensor::from<float>({5, 6, 7, 8}, {1, 2, 2}), {w, r, b}, first.state);
  EXPECT_EQ(second.state.h.to_vector<float>(), whole.state.h.to_vector<float>());
  EXPECT_EQ(second.y.to_vector<float>()[1], whole.y.to_vector<float>()[3]);
}

TEST(Lstm, refuses_what_does_not_fit) {
  const auto x = Tensor::zeros({2, 4, 5}), w = Tensor::zeros({12, 5}), r = Tensor::zeros({12, 3}),
             b = Tensor::zeros({12});
  const Place place{"model.cpp", 7};
  EXPECT_EQ(error_text([&] { lstm(x, {Tensor::zeros({12, 4}), r, b}, {}, {}, place); }),
            "error[RT0242]: lstm: the weights do not fit\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,4,5], weights f32[12,4], recurrent weights f32[12,3]\n"
            "  expected: weights [4 hidden,5] and recurrent weights [4 hidden,hidden]");
  EXPECT_EQ(error_text([&] { lstm(x, {w, r, Tensor::zeros({3})}, {}, {}, place); }),
            "error[RT0242]: lstm: a bias is f32[3]\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[2,4,5], weights f32[12,5], recurrent weights f32[12,3]\n"
            "  expected: f32[12]");
  EXPECT_THROW(lstm(Tensor::zeros({2, 5}), {w, r, b}), Error);
  EXPECT_THROW(lstm(Tensor::zeros({2, 0, 5}), {w, r, b}), Error);
  EXPECT_THROW(lstm(x, {w, r, b}, {Tensor::zeros({1, 3}), {}}), Error);
  EXPECT_THROW(gru(x, {w, r, b, b}), Error);
}

}  // namespace
}  // namespace retrace
