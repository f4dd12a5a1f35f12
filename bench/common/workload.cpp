#include "bench/common/workload.h"

#include "bench/common/synthetic.h"

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

Tensor input(const Shape& sample, int64_t batch) {
  if (sample.rank() == 1) return scaled(synthetic({batch, sample[0]}, 1, "BC"), 6, -3);
  return synthetic({batch, sample[0], sample[1], sample[2]}, 1, "BSSC");
}

Tree targets(const std::string& name, int64_t n) {
  if (name == "digits") return {{"class", classes(n)}, {"angle", scaled(synthetic({n, 1}, 3, "BC"), 90, -45)}};
  if (name == "peaks") return {{"value", synthetic({n, 1}, 2, "BC")}};
  if (name == "cifar10") return {{"class", classes(n)}};
  return {{"image", synthetic({n, 32, 32, 1}, 2, "BSSC")}};
}

// The tensor as this worker's part of the mini-batch.
Tensor shared(const Tensor& tensor, const Share& share) {
  if (!share.worker) return tensor;
  return tensor.relabelled(tensor.spec().labels.text(),
                           {share.worker->size() * share.samples, share.worker->index() * share.samples});
}

Job job_of(const std::string& name, const Share& share) {
  Job job;
  job.training.shards = share.worker ? share.worker->size() : 1;
  job.training.solver = name == "cifar10" ? "sgdm" : "adam";
  job.training.l2_regularization = name == "cifar10" ? 1e-10 : 0;
  return job;
}

float learn_rate_of(const std::string& name) {
  return name == "peaks" ? 0.08f : name == "cifar10" ? 0.01f : name == "digits" ? 0.0001f : 0.001f;
}

}  // namespace

Workload::Workload(const std::string& name, bool accelerated, Device& device, const Share& share)
    : network_(nn::make_network(random_key(1), {.name = name})),
      job_(job_of(name, share)),
      learn_rate_(learn_rate_of(name)),
      device_(device) {
  const int64_t samples = share.worker ? share.samples : batch_of(name);
  x_ = shared(input(network_.sample, samples), share).to(device);
  targets_ = map(targets(name, samples), [&](const Tensor& tensor) { return shared(tensor, share); }).to(device);
  step_ = training_step(job_.training, job_.seed, network_, share.worker);
  const auto predict = [this](const Tree& parameters, const Tree& state, const Tensor& x) {
    return network_.forward(x, parameters, state, Phase::inference).y;
  };
  predict_ = predict;
  if (accelerated) accelerated_ = accelerate(step_), predict_ = accelerate(predict_);
  restart();
}

void Workload::restart() { now_ = initial_training_state(network_, job_.training).to(device_); }

Tensor Workload::train() {
  auto [loss, after] = accelerated_ ? (*accelerated_)(std::move(now_), x_, targets_, learn_rate_)
                                    : step_(now_, x_, targets_, learn_rate_);
  now_ = std::move(after);
  return loss;
}

Tree Workload::predict() const { return predict_(now_.parameters, now_.state, x_); }

}  // namespace retrace::bench
