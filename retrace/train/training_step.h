#pragma once
// One step of a job's training as a pure function: loss, gradients, update of the parameters, running statistics.

#include "retrace/distributed/worker.h"
#include "retrace/nn/networks.h"
#include "retrace/ops/operators.h"
#include "retrace/optim/schedule.h"
#include "retrace/train/job.h"

namespace retrace {

// Everything that a step changes.
struct TrainingState {
  Tree parameters, state, solver;

  TrainingState to(Device& device) const;
};

// At the start: the network's values, and the solver's own before the first step.
TrainingState initial_training_state(const nn::Network& network, const TrainingOptions& options);

struct StepResult {
  Tensor loss;
  TrainingState after;
};

// Takes the state, the inputs and targets of a mini-batch, and the learn rate.
using TrainingStep = std::function<StepResult(const TrainingState&, const Tensor&, const Tree&, const Operand&)>;
// Of this worker's shards of the mini-batch (null: alone, all of them); the network and the worker must outlive it.
TrainingStep training_step(const Job& job, const nn::Network& network, Worker* worker = nullptr);

// The rate of each step of the job, in binary64; training_step() rounds it once.
LearnRate learn_rate(const TrainingOptions& options);

}  // namespace retrace
