#include "retrace/train/training_iteration.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace retrace {
namespace {

AccelerateOptions options_of(const TrainingTask& task) {
  return {.seed = task.seed, .enabled = task.training.acceleration == "accelerated"};
}

}  // namespace

TrainingIteration::TrainingIteration(const TrainingTask& task, Worker& worker)
    : task_(task),
      step_(accelerate(training_step(task.training, task.seed, task.network, &worker), options_of(task))),
      gather_(accelerate(gather_step(task.training, task.seed, task.network, &worker), options_of(task))),
      update_(accelerate(update_step(task.training, task.network), options_of(task))) {}

StepResult TrainingIteration::operator()(TrainingState before, MiniBatchQueue& queue, float rate) const {
  if (accumulates()) return accumulated(std::move(before), queue, rate);
  const auto batch = queue.next(Place());
  return step_(std::move(before), batch[0], targets_of(task_.network, task_.data, batch), rate);
}

StepResult TrainingIteration::accumulated(TrainingState before, MiniBatchQueue& queue, float rate) const {
  const auto sizes = queue.next_sizes(task_.training.accumulate);
  double all = 0;
  for (const int64_t size : sizes) all += static_cast<double>(size);
  Gathered sum = nothing_gathered(before);
  for (const int64_t size : sizes) {
    const auto batch = queue.next(Place());
    const auto share = static_cast<float>(static_cast<double>(size) / all);
    sum = gather_(before.parameters, std::move(sum), batch[0], targets_of(task_.network, task_.data, batch), share);
  }
  const Tensor loss = sum.loss;
  return {loss, update_(std::move(before), std::move(sum), rate)};
}

std::vector<std::string> TrainingIteration::input_names(const TrainingState& before) const {
  std::vector<std::string> names;
  if (accumulates()) return names;
  const auto add = [&names](const char* what, const Tree& tree) {
    for (const auto& [path, tensor] : leaves(tree)) names.push_back(std::string(what) + path);
  };
  add("parameters/", before.parameters);
  add("state/", before.state);
  add("solver/", before.solver);
  names.emplace_back("the inputs of the mini-batch");
  std::set<std::string> outputs;  // in the order of leaves
  for (const auto& output : task_.network.outputs) outputs.insert(output.name);
  for (const auto& output : outputs) names.push_back("the targets of " + output);
  names.emplace_back("the learn rate");
  return names;
}

int64_t TrainingIteration::in_epoch(int64_t mini_batches) const {
  return (mini_batches + task_.training.accumulate - 1) / task_.training.accumulate;
}

void TrainingIteration::set_calls(int64_t calls) {
  step_.set_calls(calls);
  gather_.set_calls(calls);
}

}  // namespace retrace
