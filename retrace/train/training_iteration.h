#pragma once
// One iteration of a training: a step from one mini-batch, from the gradients of several, or from those of all data.

#include "retrace/data/mini_batch_queue.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/training_step.h"
#include "retrace/train/training_task.h"

namespace retrace {

// Of one worker. Task and worker must outlive it.
class TrainingIteration {
 public:
  TrainingIteration(const TrainingTask& task, Worker& worker);

  // Takes the next mini-batch from the queue, or the next training.accumulate of them, fewer at the end of an epoch;
  // with a solver that looks at all data in each step, all mini-batches of an epoch.
  // What nobody else holds of the state is overwritten.
  StepResult operator()(TrainingState before, MiniBatchQueue& queue, float rate) const;

  // Of the arguments of the step, for people; none where gradients are accumulated.
  std::vector<std::string> input_names(const TrainingState& before) const;

  // How many make an epoch of so many mini-batches.
  int64_t in_epoch(int64_t mini_batches) const;
  // Of the function that draws random numbers.
  int64_t calls() const { return gathers() ? gather_.calls() : step_.calls(); }
  void set_calls(int64_t calls);

 private:
  bool gathers() const;  // the gradients of several mini-batches
  StepResult accumulated(TrainingState before, MiniBatchQueue& queue, float rate) const;
  const TrainingTask& task_;
  AcceleratedFunction<TrainingStep> step_;
  AcceleratedFunction<GatherStep> gather_;
  AcceleratedFunction<UpdateStep> update_;
  AcceleratedFunction<CurvatureStep> curvature_;
};

}  // namespace retrace
