// A user's program: a loop of its own with clipping, L2, a schedule, progress, and a look at the plan.
#include <retrace/retrace.h>
#include <cstdio>
namespace rt = retrace;

rt::Tensor loss(const rt::Tree& p, const rt::Tensor& x, const rt::Tensor& t) {
  return rt::mean_squared_error(rt::linear(rt::relu(rt::linear(x, p["hidden"])), p["out"]), t);
}

rt::Tree layer(rt::Shape shape, rt::RandomKey key) {
  return {{"weights", rt::nn::he_normal(shape, rt::nn::linear_fans(shape), key)},
          {"bias", rt::Tensor::from(std::vector<float>(size_t(shape[0])), {shape[0]})}};
}

int main() {
  rt::set_thread_count(2);
  const auto key = rt::random_key(7);
  rt::Tree parameters{{"hidden", layer({16, 2}, key.split("hidden"))}, {"out", layer({1, 16}, key.split("out"))}};
  rt::MiniBatchQueue queue(rt::datasets::peaks(rt::Split::train, 40), {.mini_batch_size = 160});

  // One step: everything that a step changes is an argument and a result.
  const auto update = [](const rt::Tree& p, const rt::AdamState& state, const rt::Operand& rate, const rt::Tensor& x,
                         const rt::Tensor& t) {
    auto [value, gradients] = rt::value_and_grad(loss)(p, x, t);
    gradients = rt::clip_gradients(rt::l2_regularization(p, gradients, 1e-4f), 1.0f, rt::Clip::global_l2_norm);
    auto next = rt::adam_update(p, gradients, state, {.learn_rate = rate});
    return std::tuple(next.parameters, next.state, value);
  };
  auto step = rt::accelerate(update);
  const rt::LearnRate rate =
      rt::learn_rate(0.02, {.name = "piecewise", .options = {{"drop_factor", 0.5}, {"drop_period", 5}}});

  const int epochs = 10;
  rt::Terminal terminal(stderr, rt::terminal_options(stderr));
  terminal.receive(rt::RunStarted{.job = "peaks",
                                  .device = "cpu",
                                  .run_dir = ".",
                                  .threads = rt::thread_count(),
                                  .epochs = epochs,
                                  .iterations_per_epoch = queue.mini_batches(),
                                  .parameters = 65});
  rt::AdamState state{.mean = rt::map(parameters, [](const rt::Tensor& x) { return 0 * x; }),
                      .mean_square = rt::map(parameters, [](const rt::Tensor& x) { return 0 * x; }),
                      .step = rt::Tensor::scalar(0)};
  rt::ScheduleStep at{.iterations = epochs * queue.mini_batches()};
  double first = 0, mean = 0;
  for (; at.epoch <= epochs; ++at.epoch) {
    mean = 0;
    for (queue.shuffle(); queue.has_data(); ++at.iteration) {
      auto [x, t] = queue.next<2>();
      auto [next, solver, value] = step(std::move(parameters), std::move(state), float(rate(at)), x, t);
      parameters = next;
      state = solver;
      mean += value.number() / double(queue.mini_batches());
    }
    if (at.epoch == 1) first = mean;
    terminal.receive(rt::EpochDone{.epoch = int(at.epoch), .iteration = at.iteration, .loss = mean});
  }
  const auto [x, t] = rt::MiniBatchQueue(queue.store(), {.mini_batch_size = 160}).next<2>();
  const std::string plan = rt::explain(rt::value_and_grad(loss), parameters, x, t);
  std::printf("%s\n", mean < 0.7 * first && plan.find("matmul") != plan.npos ? "learns" : "does not learn");
}
