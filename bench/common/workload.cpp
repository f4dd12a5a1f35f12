#include "bench/common/workload.h"

#include "bench/common/synthetic.h"
#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/operators.h"
#include "retrace/optim/regularize.h"

namespace retrace::bench {
namespace {

int64_t batch_of(const std::string& name) {
  return name == "digits" ? 32 : name == "peaks" ? 40000 : name == "cifar10" ? 256 : 500;
}

Tensor scaled(const Tensor& numbers, float factor, float offset) {
  auto values = numbers.to_vector<float>();
  for (float& value : values) value = value * factor + offset;
  return Tensor::from(values, numbers.shape(), numbers.labels());
}

Tensor classes(int64_t count) {
  std::vector<int32_t> values;
  for (float value : synthetic({count}, 2).to_vector<float>()) values.push_back(static_cast<int32_t>(value * 10));
  return Tensor::from(values, {count}, "B");
}

Tensor input(const std::string& name, const Shape& sample) {
  const int64_t batch = batch_of(name);
  if (sample.rank() == 1) return scaled(synthetic({batch, sample[0]}, 1, "BC"), 6, -3);
  return synthetic({batch, sample[0], sample[1], sample[2]}, 1, "BSSC");
}

Tree targets(const std::string& name) {
  const int64_t n = batch_of(name);
  if (name == "digits") return {{"class", classes(n)}, {"angle", scaled(synthetic({n, 1}, 3, "BC"), 90, -45)}};
  if (name == "peaks") return {{"value", synthetic({n, 1}, 2, "BC")}};
  if (name == "cifar10") return {{"class", classes(n)}};
  return {{"image", synthetic({n, 32, 32, 1}, 2, "BSSC")}};
}

}  // namespace

Workload::Workload(const std::string& name)
    : name_(name),
      network_(nn::make_network(name, random_key(1))),
      x_(input(name, network_.sample)),
      targets_(targets(name)) {
  restart();
}

void Workload::restart() {
  parameters_ = network_.parameters, state_ = network_.state;
  adam_ = {}, sgdm_ = {};
}

Tensor Workload::train() {
  const auto step = value_and_grad([this](const Tree& p, const Tensor& x, const Tree& t, const Tree& state) {
    const auto [y, moments] = network_.model(p, x, state, Phase::train);
    return WithAux<Tree>{network_.loss(y, t), moments};
  });
  const auto [loss, gradients, moments] = step(parameters_, x_, targets_, state_);
  if (name_ == "cifar10") {
    const auto updated =
        sgdm_update(parameters_, l2_regularization(gradients, parameters_, 1e-10f), sgdm_, {.learn_rate = 0.01f});
    parameters_ = updated.parameters, sgdm_ = updated.state;
  } else {
    const auto updated = adam_update(parameters_, gradients, adam_,
                                     {.learn_rate = name_ == "peaks"    ? 0.08f
                                                    : name_ == "digits" ? 0.0001f
                                                                        : 0.001f});
    parameters_ = updated.parameters, adam_ = updated.state;
  }
  if (!moments.empty()) state_ = update_statistics(state_, moments);
  return loss;
}

Tree Workload::predict() const { return network_.model(parameters_, x_, state_, Phase::inference).y; }

}  // namespace retrace::bench
