#pragma once
// The training of a job, step by step.

#include <optional>
#include <string>

#include "retrace/data/mini_batch_queue.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/evaluate_network.h"
#include "retrace/train/run_state.h"
#include "retrace/train/train_job.h"
#include "retrace/train/training_report.h"

namespace retrace {

// One worker's part of a training:
//
//   Training training(job, control, data, worker);
//   while (!training.done()) training.step();
//   TrainJobResult result = training.finish();
//
// All that changes from step to step is state(); the rest follows from job and data. So another Training of the same
// job (with other threads, workers or device) that restore()s a state goes on with the same bits and tells the same
// events, but for their times. All workers take the same steps. Job, data, worker and the monitor outlive it.
class Training {
 public:
  Training(const Job& job, TrainJobControl control, const JobData& data, Worker& worker);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // After the steps so far. Copies keep their values.
  const RunState& state() const { return state_; }
  // Goes on from a state of the same job; the next step tells where. Error(usage) for one that cannot be: another
  // position, network or solver.
  void restore(const RunState& state);

  // The last epoch is complete, the run was stopped, or a loss was not finite.
  bool done() const { return !stop_reason_.empty() || state_.epochs >= job_.training.max_epochs; }
  // One step; with the first one of an epoch the data begin anew, with the last one the epoch is recorded and
  // validated. Worker 0 leaves a checkpoint where one is due, and where the run is stopped.
  void step();
  // The scores of the test set, if they are wanted and not known, and the end of the run folder.
  TrainJobResult finish();
  // After a failure of any of these.
  void give_up() noexcept { report_.give_up(); }
  // "epoch 2, iteration 7": that of the next step.
  std::string position() const;

 private:
  void begin_epoch();
  void end_epoch();
  // The loss of the next mini-batch.
  double update(float rate);
  bool is_validated(int epoch) const;
  void validate(int epoch);
  bool measure(const NetworkWeights& weights);
  void leave_checkpoint();
  NetworkWeights weights() const { return {state_.now.parameters, state_.now.state}; }
  int epoch() const { return static_cast<int>(state_.epochs) + 1; }  // the one that goes on
  RunStarted started() const;

  const Job& job_;
  const TrainJobControl control_;
  Worker& worker_;
  Device& device_;
  const nn::Network network_;
  const JobData& data_;
  MiniBatchQueue queue_;
  AcceleratedFunction<TrainingStep> step_;
  const LearnRate learn_rate_;
  NetworkEvaluator evaluate_;
  TrainingReport report_;
  RunState state_;
  int64_t restored_ = 0;               // iterations of the state that restore() got
  NamedValues owner_;                  // of checkpoints, once there is one
  std::string stop_reason_;            // why it ended before the last epoch was complete
  std::optional<NetworkScore> score_;  // of the test set, after the last epoch so far
};

}  // namespace retrace
