#pragma once
// An iteration of a solver that looks at all data in each step.

#include "retrace/data/mini_batch_queue.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/training_step.h"
#include "retrace/train/training_task.h"

namespace retrace {

// Whether training.solver is such a solver.
bool takes_all_data(const TrainingOptions& options);

// What the mini-batches from here to the end of the queue bring, at most so many, each with its part of their samples.
Gathered gather_mini_batches(const TrainingTask& task, const AcceleratedFunction<GatherStep>& gather,
                             const TrainingState& at, MiniBatchQueue& queue, int64_t most);

// One iteration. The queue stands at the start of an epoch, and at its end afterwards. Each evaluation of the loss goes
// through all mini-batches, with what transforms and layers draw in the first epoch, so that the loss is one function.
// L2 regularization is a part of the loss. The result's loss is that at the new parameters, without it; running
// statistics are those of the evaluation there.
struct FullBatchFunctions {
  AcceleratedFunction<GatherStep> gather;
  AcceleratedFunction<CurvatureStep> curvature;
};
StepResult full_batch_step(const TrainingTask& task, FullBatchFunctions functions, TrainingState before,
                           MiniBatchQueue& queue);

// Why the solver has nothing left to do, as a stop reason; empty: it goes on.
std::string end_of_solver(const TrainingOptions& options, const TrainingState& state);

}  // namespace retrace
