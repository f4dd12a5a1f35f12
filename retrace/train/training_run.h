#pragma once
// A training on the workers of a pool, from its first step or from a checkpoint to its end.

#include "retrace/train/job_scope.h"
#include "retrace/train/training.h"

namespace retrace {

// What is known of a training before its data are read.
struct TrainingCall {
  JobSettings settings;
  std::string device;
  int64_t shards = 1;
  int workers = 1;  // of this process where the caller brings no pool; 0: see automatic_workers()
  // What takes memory, for the error of too little of it.
  std::string sizes;
  // The task; called once, in the floating-point environment and the scope of the settings.
  std::function<TrainingTask()> make_task;
};

// The pool of a call that brings none.
Pool own_pool(const TrainingCall& call, const PoolOptions& options = {}, Place place = {});

// Trains. Under `workers` = 0 a pool may have more workers than shards: threads become loader threads, and ranks make
// samples for those that compute. On every process that has workers, the result is that of its first worker (without
// its tables where it only made samples). Before anything is computed, folders are looked at, and the workers compare
// their tasks; an error of one process is thrown on all of them. Errors: as train_job().
TrainJobResult run_training(Pool& pool, const TrainingCall& call, const TrainJobControl& control);

}  // namespace retrace
