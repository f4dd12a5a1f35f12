#include "retrace/train/training_iteration.h"

#include <set>
#include <utility>
#include <vector>

#include "retrace/train/full_batch_step.h"

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
      update_(accelerate(update_step(task.training, task.network), options_of(task))),
      curvature_(accelerate(curvature_step(task.training, task.seed, task.network, &worker), options_of(task))) {}

StepResult TrainingIteration::operator()(TrainingState before, MiniBatchQueue& queue, float rate) const {
  if (takes_all_data(task_.training)) return full_batch_step(task_, {gather_, curvature_}, std::move(before), queue);
  if (gathers()) return accumulated(std::move(before), queue, rate);
  const auto batch = queue.next(Place());
  return step_(std::move(before), batch[0], targets_of(task_.network, task_.data, batch), rate);
}

StepResult TrainingIteration::accumulated(TrainingState before, MiniBatchQueue& queue, float rate) const {
  Gathered sum = gather_mini_batches(task_, gather_, before, queue, task_.training.accumulate);
  const Tensor loss = sum.loss;
  return {loss, update_(std::move(before), std::move(sum), rate)};
}

std::vector<std::string> TrainingIteration::input_names(const TrainingState& before) const {
  std::vector<std::string> names;
  if (gathers()) return names;
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

bool TrainingIteration::gathers() const { return task_.training.accumulate > 1 || takes_all_data(task_.training); }

int64_t TrainingIteration::in_epoch(int64_t mini_batches) const {
  if (takes_all_data(task_.training)) return 1;
  return (mini_batches + task_.training.accumulate - 1) / task_.training.accumulate;
}

void TrainingIteration::set_calls(int64_t calls) {
  step_.set_calls(calls);
  gather_.set_calls(calls);
}

}  // namespace retrace
