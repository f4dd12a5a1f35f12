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

// Calls f(mini-batch, share) for those from here to the end of the queue, at most so many.
template <class F>
void for_mini_batches(MiniBatchQueue& queue, int64_t most, const F& f) {
  const auto sizes = queue.next_sizes(most);
  double all = 0;
  for (const int64_t size : sizes) all += static_cast<double>(size);
  for (const int64_t size : sizes) f(queue.next(Place()), static_cast<float>(static_cast<double>(size) / all));
}

// What one evaluation of the loss brought beside it.
struct Seen {
  Tensor loss;
  Tree state;
};

// The loss of all data as a function of the parameters that are trained.
class AllData {
 public:
  AllData(const TrainingTask& task, FullBatchFunctions functions, const TrainingState& before, MiniBatchQueue& queue)
      : task_(task),
        functions_(std::move(functions)),
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
    functions_.gather.set_calls(0);
    const TrainingState at{all(parameters), before_.state, {}};
    auto found = gather_mini_batches(task_, functions_.gather, at, queue_, queue_.size());
    Tree gradients = own(found.gradients);
    evaluate(gradients);
    seen_.push_back({found.loss, found.state});
    return with_l2(at.parameters, {found.loss, std::move(gradients)});
  }

  // J'HJ of all data, and the second derivative of L2.
  Tensor curvature(const Tree& parameters) {
    queue_.restore({queue_.position().shuffles, 1, 0});
    functions_.curvature.set_calls(0);
    const Tree all = this->all(parameters);
    const Tensor diagonal = l2_diagonal(all);
    const Tensor identity = Tensor::eye(diagonal.size()).to(diagonal.device());
    Tensor sum = identity * diagonal;
    evaluate(Tree{{"identity", identity}, {"sum", sum}});
    for_mini_batches(queue_, queue_.size(), [&](const auto& batch, float share) {
      sum = functions_.curvature(identity, all, before_.state, std::move(sum), batch[0], share);
    });
    return sum;
  }

 private:
  Tensor l2_diagonal(const Tree& all) const {
    const auto fill = [](double value) {
      return [value](const Tensor& like) { return Tensor::full(value, like.shape()).to(like.device()); };
    };
    Tree found = map(all, fill(0));
    for (const auto& part : l2_parts(all)) {
      const Tree of_part = part.of(all);
      const double factor = task_.training.l2_regularization * part.how.l2;
      found =
          part.put(found, l2_regularization(map(of_part, fill(1)), map(of_part, fill(0)), Tensor::full(factor, {})));
    }
    return flat_leaves(own(found));
  }

  // Those of which L2 has a factor.
  std::vector<ParameterPart> l2_parts(const Tree& all) const {
    if (!solver_.parts.empty()) return solver_.parts;
    ParameterPart whole;
    for (size_t i = 0; i < leaf_tensors(all).size(); ++i) whole.leaves.push_back(i);
    return {whole};
  }

  // loss + l2 / 2 times the sum of the squares of all that is not spared.
  ValueAndGradient<Tree> with_l2(const Tree& all, ValueAndGradient<Tree> found) const {
    const double l2 = task_.training.l2_regularization;
    if (l2 == 0) return found;
    Tree gradients = this->all(found.gradients);
    for (const auto& part : l2_parts(all)) {
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
  FullBatchFunctions functions_;
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
  Gathered sum = nothing_gathered(at);
  for_mini_batches(queue, most, [&](const auto& batch, float share) {
    sum = gather(at.parameters, std::move(sum), batch[0], targets_of(task.network, task.data, batch), share);
  });
  return sum;
}

StepResult full_batch_step(const TrainingTask& task, FullBatchFunctions functions, TrainingState before,
                           MiniBatchQueue& queue) {
  const QueuePosition epoch = queue.position();
  AllData data(task, std::move(functions), before, queue);
  const SolverOfParts& solver = data.solver();
  const Tree start = data.own(before.parameters);
  const auto made = solver.solver.step_on_all(start, {std::ref(data), [&](const Tree& p) { return data.curvature(p); }},
                                              before.solver, solver.options);
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
