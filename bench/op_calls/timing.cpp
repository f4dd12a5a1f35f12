#include "bench/op_calls/timing.h"

#include <algorithm>
#include <chrono>

namespace retrace::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& f, int count) {
  const auto start = Clock::now();
  for (int i = 0; i < count; ++i) f();
  return std::chrono::duration<double>(Clock::now() - start).count() / count;
}

// The lower quartile of repetitions that take 200 us or more each, for 40 ms.
double microseconds(const std::function<void()>& f) {
  for (int i = 0; i < 3; ++i) f();
  const int count = std::max(1, static_cast<int>(2e-4 / std::max(seconds_of(f, 1), 1e-7)));
  std::vector<double> all;
  for (double total = 0; total < 0.04 || all.size() < 5; total += all.back() * count)
    all.push_back(seconds_of(f, count));
  std::sort(all.begin(), all.end());
  return all[all.size() / 4] * 1e6;
}

}  // namespace

std::string entry(size_t i) { return "i" + std::to_string(1000 + i); }

nlohmann::json timed(const Function& f, const std::vector<Tensor>& inputs, const std::vector<bool>& wanted,
                     const nlohmann::json& options) {
  Tree parameters, others;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].defined()) (wanted[i] ? parameters : others)[entry(i)] = inputs[i];
  const auto call = [&](const Tree& p, const Tree& o) {
    std::vector<Tensor> seen(inputs.size());
    for (size_t i = 0; i < seen.size(); ++i)
      if (inputs[i].defined()) seen[i] = (wanted[i] ? p : o)[entry(i)];
    return f(Call(std::move(seen), options))[0];
  };
  const auto forward = accelerate(call);
  nlohmann::json answer = {{"forward", microseconds([&] { evaluate(forward(parameters, others)); })}};
  const Tensor y = forward(parameters, others);
  if (parameters.empty() || !is_float(y.type())) return answer;
  const Tensor weights = cast(normal(y.shape(), random_key(1)), y.type());
  evaluate(weights);
  const auto step = accelerate([&](const Tree& p, const Tree& o, const Tensor& w) {
    Tree made;
    made["result"] = call(p, o);
    std::vector<Tensor> of;
    for (const auto& [name, tensor] : leaves(p)) of.push_back(tensor);
    const std::vector<Tensor> gradients = vjp({&made["result"].tensor(), 1}, {&w, 1}, of);
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].defined()) made[entry(i)] = gradients[i];
    return made;
  });
  answer["gradient"] = microseconds([&] { evaluate(step(parameters, others, weights)); });
  const auto of_sum = accelerate(
      value_and_grad([&](const Tree& p, const Tree& o, const Tensor& w) { return sum(multiply(call(p, o), w)); }));
  answer["gradient of a sum"] = microseconds([&] { evaluate(of_sum(parameters, others, weights).value); });
  return answer;
}

}  // namespace retrace::bench
