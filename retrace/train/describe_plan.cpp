// The plan of a job's training step, from what its parts say of themselves: no data are loaded, and nothing is
// computed.

#include <fmt/format.h>

#include "retrace/base/fp_environment.h"
#include "retrace/data/stack.h"
#include "retrace/plan/pass_changes.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/full_batch_step.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_scope.h"
#include "retrace/train/train_job.h"
#include "retrace/train/training_step.h"

namespace retrace {
namespace {

// A tensor that has a spec and will have no value.
Tensor described(TensorSpec spec, const Device& device) {
  spec.device = device.id();
  return Tensor(new_tensor_value(std::move(spec)));
}

Tree described(const Tree& tree, const Device& device) {
  return map(tree, [&](const Tensor& tensor) { return described(tensor.spec(), device); });
}

// The outputs of the queue for a mini-batch.
std::vector<Tensor> described_batch(const JobDescription& data, int64_t samples, const Device& device) {
  std::vector<Tensor> batch;
  for (size_t i = 0; i < data.formats.size(); ++i) {
    TensorSpec spec = stacked_spec(data.train.variables[i], samples);
    spec.labels = Labels(data.formats[i]);
    while (spec.shape.rank() < spec.labels.size()) spec.shape.push_back(1);
    batch.push_back(described(std::move(spec), device));
  }
  return batch;
}

// Of the plan that make() makes.
template <class Make>
std::string described_plan(const PlanDetails& details, const Make& make) {
  const PassChanges changes;
  const auto plan = make();
  if (!details.passes && !details.why) return plan->text();
  return plan->summary() + (details.passes ? "\n" + changes.text() : "") + (details.why ? plan->why() : "");
}

}  // namespace

std::string describe_plan(const Job& job, PlanDetails details) {
  const FloatingPointScope floating_point;
  check_job(job);
  const JobScope scope(settings_of(job));
  const Device& device = find_device(job.device, 0, {});
  const nn::Network network = make_job_network(job);
  const JobDescription data = describe_job_data(job, network);
  const auto samples = std::min<int64_t>(job.training.mini_batch_size, data.train.samples);
  const auto batch = described_batch(data, samples, device);
  Tree targets;
  for (size_t i = 0; i < network.outputs.size(); ++i) targets[network.outputs[i].name] = batch[data.targets[i]];
  const TrainingState start = initial_training_state(network, job.training);
  const TrainingState state{described(start.parameters, device), described(start.state, device),
                            described(start.solver, device)};
  const AccelerateOptions how{.seed = job.seed};
  const auto rate = static_cast<float>(learn_rate(job.training)({}));
  if (job.training.accumulate == 1 && !takes_all_data(job.training))
    return described_plan(details, [&] {
      return accelerate(training_step(job.training, job.seed, network), how).plan(state, batch[0], targets, rate);
    });
  const Gathered gathered{described(start.parameters, device), described(TensorSpec{DType::f32, {}, {}, {}}, device),
                          described(start.state, device)};
  const auto gather = described_plan(details, [&] {
    return accelerate(gather_step(job.training, job.seed, network), how)
        .plan(state.parameters, gathered, batch[0], targets, 1.0f / static_cast<float>(job.training.accumulate));
  });
  if (takes_all_data(job.training))
    return fmt::format("for each mini-batch of an evaluation of the loss, its gradients:\n\n{}", gather);
  const auto update = described_plan(
      details, [&] { return accelerate(update_step(job.training, network), how).plan(state, gathered, rate); });
  return fmt::format("for each of the {} mini-batches of an iteration, its gradients:\n\n{}\nthen the step:\n\n{}",
                     job.training.accumulate, gather, update);
}

}  // namespace retrace
