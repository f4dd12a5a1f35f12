#pragma once
// One step of a job's training as a pure function: loss, gradients, update of the parameters, running statistics.

#include "retrace/distributed/worker.h"
#include "retrace/nn/networks.h"
#include "retrace/optim/adam.h"
#include "retrace/optim/sgdm.h"
#include "retrace/train/job.h"

namespace retrace {

// Everything that a step changes.
struct TrainingState {
  Tree parameters, state;
  AdamState adam;
  SgdmState sgdm;

  TrainingState to(Device& device) const;
};

// At the start: the network's values, and zeros for the solver (so that the first step has the form of all others).
TrainingState initial_training_state(const nn::Network& network, const TrainingOptions& options);

struct StepResult {
  Tensor loss;
  TrainingState after;
};

// Takes the state, the inputs and targets of a mini-batch, and the learn rate.
using TrainingStep = std::function<StepResult(const TrainingState&, const Tensor&, const Tree&, const Operand&)>;
// Of this worker's shards of the mini-batch (null: alone, all of them); the network and the worker must outlive it.
TrainingStep training_step(const Job& job, const nn::Network& network, Worker* worker = nullptr);

// Of an iteration from 0 and its epoch from 1, in binary64, rounded once.
float learn_rate(const TrainingOptions& options, int64_t iteration, int64_t iterations, int epoch);

}  // namespace retrace
