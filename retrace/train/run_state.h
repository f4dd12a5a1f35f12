#pragma once
// The state of a run as a value.

#include <filesystem>

#include "retrace/data/mini_batch_queue.h"
#include "retrace/train/training_step.h"
#include "retrace/train/weights.h"

namespace retrace {

// Everything that a step of a job changes. With the job and its data it decides all that follows, to the bit, whatever
// the threads, workers and device; it is the same on every worker. A state can be written and read back after any step.
// Times are no part of it.
struct RunState {
  int64_t epochs = 0;      // complete ones
  int64_t iterations = 0;  // steps in all
  QueuePosition position;  // in the training data
  int64_t calls = 0;       // of the function of the step: random draws depend on it
  // Of the epoch that goes on: its steps, and the sum of their losses in binary64. 0 between epochs.
  int64_t epoch_steps = 0;
  double loss_sum = 0;
  // 1: the last complete epoch is still to be validated, since the run was stopped before; else 0.
  int64_t validation_due = 0;
  // Of the validations so far: the iteration of the best one (0: there was none) and its value; how many came after it.
  int64_t best_iteration = 0, not_better = 0;
  double best_value = 0;
  TrainingState now;
  Tree average = {};  // of the parameters after each step, where it is wanted; else empty
  // At the start of the epoch that goes on: what is left of the run if a loss is not finite.
  NetworkWeights epoch_start;
  // Of the best validation so far, where they are wanted; else empty.
  NetworkWeights best = {};
};

// As a tree: parameters, state, solver, epoch_start/parameters, epoch_start/state, best/parameters, best/state,
// average; counters/NAME, each an i32[2] with the lower and the upper 32 bits; loss_sum and best_value, f64[].
Tree to_tree(const RunState& state);
// Of it, the tensors that every step changes: parameters, state, solver, average.
Tree changed_by_steps(const RunState& state);
// The state that to_tree() made such a tree of. Error(usage) names an entry that is missing.
RunState run_state_from(const Tree& tree);

// The tree as a safetensors file, with the fingerprint of each tensor; whole or not at all. Errors: output.
void save_run_state(const std::filesystem::path& path, const RunState& state);
// Reads it back, onto the CPU; trees get the structure, shapes and labels of those in `like`, such as the state before
// the first step of the same job. Errors: missing; bad_data for a damaged file, and for one of another network or
// solver.
RunState load_run_state(const std::filesystem::path& path, const RunState& like);

}  // namespace retrace
