#pragma once
// When a training is validated, and what its validations decide.

#include "retrace/train/evaluate_network.h"
#include "retrace/train/run_state.h"
#include "retrace/train/training_task.h"

namespace retrace {

// A function of the task and of the state of the run alone: equal on every worker.
class ValidationPlan {
 public:
  // Throws Error(usage) for an objective that is neither the loss nor a metric of the network.
  explicit ValidationPlan(const TrainingTask& task);

  // Whether there is one after this epoch, which is complete, or after an iteration of so many in all.
  bool after_epoch(int64_t epoch) const;
  bool after_iteration(int64_t iteration, int64_t iterations) const;
  // The same after a last step that does not end an epoch.
  bool at_end() const { return active_; }
  // Notes the score in the state; of a better one than all before, the weights, if they may be the result.
  void judge(RunState& state, const NetworkScore& score, const NetworkWeights& weights) const;
  // Too many in a row found nothing better.
  bool is_over(const RunState& state) const;
  // Whether the best weights are the result.
  bool keeps_best() const { return keeps_best_; }

 private:
  double value_of(const NetworkScore& score) const;
  const ValidationOptions options_;
  int64_t epochs_;
  bool active_, keeps_best_, larger_is_better_ = false;
};

}  // namespace retrace
