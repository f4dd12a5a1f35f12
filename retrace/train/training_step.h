#pragma once
// One step of a training as a pure function: loss, gradients, update of the parameters, running statistics.

#include "retrace/distributed/worker.h"
#include "retrace/nn/networks.h"
#include "retrace/ops/operators.h"
#include "retrace/optim/parameter_groups.h"
#include "retrace/optim/schedule.h"
#include "retrace/train/training_options.h"

namespace retrace {

// Everything that a step changes.
struct TrainingState {
  Tree parameters, state, solver;

  TrainingState to(Device& device) const;
};

// At the start: the network's values, and the solver's own before the first step.
TrainingState initial_training_state(const nn::Network& network, const TrainingOptions& options);

// Error(usage) for groups of parameters that do not fit the network: as solver_update(); for a solver that needs a sum
// of squares, and a loss that is none, or too many parameters.
void check_groups(const TrainingOptions& options, const nn::Network& network, Place place);

// The solver with its options, and the parts of the parameters that are trained alike.
SolverOfParts solver_of_parts(const TrainingOptions& options, const nn::Network& network);

struct StepResult {
  Tensor loss;
  TrainingState after;
};

// Takes the state, the inputs and targets of a mini-batch, and the learn rate.
using TrainingStep = std::function<StepResult(const TrainingState&, const Tensor&, const Tree&, const Operand&)>;
// Of this worker's shards of the mini-batch (null: alone, all of them), with draws of this seed; the network and the
// worker must outlive it.
TrainingStep training_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network,
                           Worker* worker = nullptr);

// The moments of batch norms in training, of a mini-batch as a step sees it.
struct StepMoments {
  Tensor loss;
  Tree moments;
};
// Takes parameters, state, inputs and targets.
using MomentsStep = std::function<StepMoments(const Tree&, const Tree&, const Tensor&, const Tree&)>;
// As training_step().
MomentsStep moments_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network,
                         Worker* worker = nullptr);

// What the mini-batches of one iteration have brought so far.
struct Gathered {
  Tree gradients;  // the sum of share * gradient; of what is frozen, any values
  Tensor loss;     // the same of their losses
  Tree state;      // running statistics
};
Gathered nothing_gathered(const TrainingState& before);

// Adds a mini-batch: parameters, what there is, inputs and targets, and the share of the mini-batch.
using GatherStep = std::function<Gathered(const Tree&, const Gathered&, const Tensor&, const Tree&, const Operand&)>;
// As training_step().
GatherStep gather_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network,
                       Worker* worker = nullptr);

// Adds a mini-batch to the curvature J'HJ of a loss that is a sum of squares, [n,n]: J has the derivatives of the
// outputs with respect to the n elements of the parameters that are trained, in the order of their leaves, H is the
// second derivative of the loss. Takes the identity [n,n], parameters, state, what there is, inputs, and the share
// of the mini-batch.
using CurvatureStep =
    std::function<Tensor(const Tree&, const Tree&, const Tree&, const Tensor&, const Tensor&, const Operand&)>;
// As training_step().
CurvatureStep curvature_step(const TrainingOptions& options, uint64_t seed, const nn::Network& network,
                             Worker* worker = nullptr);

// The step from what was gathered, and the learn rate.
using UpdateStep = std::function<TrainingState(const TrainingState&, const Gathered&, const Operand&)>;
UpdateStep update_step(const TrainingOptions& options, const nn::Network& network);

// The rate of each step, in binary64; training_step() rounds it once.
LearnRate learn_rate(const TrainingOptions& options);

}  // namespace retrace
