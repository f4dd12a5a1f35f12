#include "retrace/train/full_batch_step.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/optim/full_batch.h"
#include "retrace/optim/parameter_groups.h"
#include "retrace/optim/regularize.h"
#include "retrace/optim/update_trees.h"
#include "retrace/train/stop_reason.h"

namespace retrace {
namespace {

// What one evaluation of the loss brought beside it.
struct Seen {
  Tensor loss;
  Tree state;
};

// The loss of all data as a function of the parameters that are trained.
class AllData {
 public:
  AllData(const TrainingTask& task, AcceleratedFunction<GatherStep> gather, const TrainingState& before,
          MiniBatchQueue& queue)
      : task_(task),
        gather_(std::move(gather)),
        before_(before),
        queue_(queue),
        solver_(solver_of_parts(task.training, task.network)),
        trained_(all_of(solver_.parts)) {}

  const SolverOfParts& solver() const { return solver_; }
  const std::vector<Seen>& seen() const { return seen_; }
  Tree own(const Tree& all) const { return solver_.parts.empty() ? all : trained_.of(all); }
  Tree all(const Tree& own) const { return solver_.parts.empty() ? own : trained_.put(before_.parameters, own); }

  ValueAndGradient<Tree> operator()(const Tree& parameters) {
    queue_.restore({queue_.position().shuffles, 1, 0});
    gather_.set_calls(0);
    const TrainingState at{all(parameters), before_.state, {}};
    auto found = gather_mini_batches(task_, gather_, at, queue_, queue_.size());
    Tree gradients = own(found.gradients);
    evaluate(gradients);
    seen_.push_back({found.loss, found.state});
    return with_l2(at.parameters, {found.loss, std::move(gradients)});
  }

 private:
  // loss + l2 / 2 times the sum of the squares of all that is not spared.
  ValueAndGradient<Tree> with_l2(const Tree& all, ValueAndGradient<Tree> found) const {
    const double l2 = task_.training.l2_regularization;
    if (l2 == 0) return found;
    std::vector<ParameterPart> parts = solver_.parts;
    if (parts.empty()) {
      parts.emplace_back();
      for (size_t i = 0; i < leaf_tensors(all).size(); ++i) parts[0].leaves.push_back(i);
    }
    Tree gradients = this->all(found.gradients);
    for (const auto& part : parts) {
      const double factor = l2 * part.how.l2;
      if (factor == 0) continue;
      const Tree parameters = part.of(all);
      const Tree decays = l2_regularization(parameters, zeros_like(parameters), Tensor::full(1, {}));
      for (const Tensor& w : leaf_tensors(decays))
        found.value = found.value + Tensor::full(factor / 2, {}) * sum(square(w));
      gradients = part.put(gradients, l2_regularization(parameters, part.of(gradients), Tensor::full(factor, {})));
    }
    return {found.value, own(gradients)};
  }

  const TrainingTask& task_;
  AcceleratedFunction<GatherStep> gather_;
  const TrainingState& before_;
  MiniBatchQueue& queue_;
  const SolverOfParts solver_;
  const ParameterPart trained_;
  std::vector<Seen> seen_;
};

}  // namespace

bool takes_all_data(const TrainingOptions& options) {
  return static_cast<bool>(kind_of(all_solvers(), options.solver, "solver", {}).step_on_all);
}

Gathered gather_mini_batches(const TrainingTask& task, const AcceleratedFunction<GatherStep>& gather,
                             const TrainingState& at, MiniBatchQueue& queue, int64_t most) {
  const auto sizes = queue.next_sizes(most);
  double all = 0;
  for (const int64_t size : sizes) all += static_cast<double>(size);
  Gathered sum = nothing_gathered(at);
  for (const int64_t size : sizes) {
    const auto batch = queue.next(Place());
    const auto share = static_cast<float>(static_cast<double>(size) / all);
    sum = gather(at.parameters, std::move(sum), batch[0], targets_of(task.network, task.data, batch), share);
  }
  return sum;
}

StepResult full_batch_step(const TrainingTask& task, AcceleratedFunction<GatherStep> gather, TrainingState before,
                           MiniBatchQueue& queue) {
  const QueuePosition epoch = queue.position();
  AllData data(task, std::move(gather), before, queue);
  const SolverOfParts& solver = data.solver();
  const Tree start = data.own(before.parameters);
  const auto made = solver.solver.step_on_all(start, {std::ref(data)}, before.solver, solver.options);
  const bool moved = made.evaluation >= 0;
  if (!moved && (has_begun(before.solver) || data.seen().empty())) data(start);
  queue.restore({epoch.shuffles, epoch.passes, queue.position().next});
  const size_t place = moved                      ? static_cast<size_t>(made.evaluation)
                       : has_begun(before.solver) ? data.seen().size() - 1
                                                  : 0;
  const Seen& there = data.seen()[place];
  Tensor loss = made.is_finite ? there.loss : Tensor::scalar(std::numeric_limits<float>::quiet_NaN());
  evaluate(made.state);
  return {std::move(loss), {data.all(made.parameters), moved ? there.state : before.state, made.state}};
}

std::string end_of_solver(const TrainingOptions& options, const TrainingState& state) {
  if (!takes_all_data(options)) return "";
  switch (end_of(state.solver)) {
    case FullBatchEnd::none: return "";
    case FullBatchEnd::gradient_tolerance: return kGradientTolerance;
    case FullBatchEnd::step_tolerance: return kStepTolerance;
    case FullBatchEnd::nothing_better: return kNothingBelow;
    case FullBatchEnd::max_damping: return kMaxDamping;
  }
  return "";
}

}  // namespace retrace
