#pragma once
// A training, step by step.

#include <optional>
#include <string>

#include "retrace/data/mini_batch_queue.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/evaluate_network.h"
#include "retrace/train/late_loss.h"
#include "retrace/train/run_state.h"
#include "retrace/train/snapshot_copies.h"
#include "retrace/train/stop_reason.h"
#include "retrace/train/train_job.h"
#include "retrace/train/training_iteration.h"
#include "retrace/train/training_report.h"
#include "retrace/train/validation_plan.h"

namespace retrace {

// One worker's part of a training:
//
//   Training training(task, control, worker);
//   while (!training.done()) training.step();
//   TrainJobResult result = training.finish();
//
// All that changes from step to step is state(); the rest follows from the task. So another Training of the same task
// (with other threads, workers or device) that restore()s a state goes on with the same bits and tells the same events,
// but for their times. All workers take the same steps. Task, worker and the monitor outlive it.
class Training {
 public:
  Training(const TrainingTask& task, TrainJobControl control, Worker& worker);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // After the steps so far. Copies keep their values. (After a loss that was not finite a device may have computed the
  // next step, too.)
  const RunState& state() {
    settle();
    return state_;
  }
  // Goes on from a state of the same task; the next step tells where. Error(usage) for one that cannot be: another
  // position, network or solver.
  void restore(const RunState& state);

  // The last epoch or iteration is complete, the run was stopped, validations found nothing better, or a loss was not
  // finite.
  bool done() const { return !stop_reason_.empty() || state_.epochs >= options_.max_epochs; }
  // One step; with the first one of an epoch the data begin anew, with the last one the epoch is recorded and
  // validated. Worker 0 leaves a checkpoint where one is due, and where the run is stopped.
  void step();
  // The scores of the test set, if they are wanted and not known, and the end of the run folder.
  TrainJobResult finish();
  // After a failure of any of these.
  void give_up() noexcept { report_.give_up(); }
  // The folder of the run, absolute, as all workers know it; empty where that is not so.
  const std::string& run() const { return keeper_.run; }
  // "epoch 2, iteration 7": that of the next step.
  std::string position() const;

 private:
  // A step that was given to the device, and what is told of it once its loss is known.
  struct Step {
    int64_t iteration;
    int epoch;
    int64_t first, next;  // where in the order its samples begin and end
    float rate;
    bool prints;  // fingerprints are told, of the tensors after it
    LateLoss loss;
  };

  void begin_epoch();
  bool wants_prints() const;
  void log_step(const Step& step, double loss);
  void end_epoch();
  // The next iteration, but for its loss.
  Step update(float rate);
  // Whether the loss of the step that was made must be known before the next one; `looks`: since somebody looks at what
  // the step has left.
  bool must_settle(bool looks) const;
  // Waits for the loss of the last step, and tells of the step. False if it is not finite: the training has ended with
  // that step. True if nothing waits.
  bool settle();
  OpWatch* watch() const;
  void validate();
  bool measure(const NetworkWeights& weights);
  void leave_checkpoint();
  bool copy_due() const;
  void leave_copy();
  Due checkpoint_due(bool stops);
  // Those that the training leaves behind, and in the result their iteration.
  NetworkWeights result_weights(TrainJobResult& result);
  // The state with the statistics of all training data; nothing if the run is stopped meanwhile.
  std::optional<Tree> population_state(const NetworkWeights& weights);
  // Those that are validated and returned.
  NetworkWeights weights() const { return {averages() ? state_.average : state_.now.parameters, state_.now.state}; }
  bool averages() const { return options_.average_decay > 0; }
  int epoch() const { return static_cast<int>(state_.epochs) + 1; }  // the one that goes on
  RunStarted started() const;
  int64_t all_iterations() const;
  // Whether the last step has been made before the last epoch is complete.
  bool at_max_iterations() const;
  // Why that was the last step: the iterations, or the solver, which has nothing left to do. Empty: it was not.
  std::string end_reason() const;
  int64_t iterations_in_epoch() const { return step_.in_epoch(queue_.mini_batches()); }

  const TrainingTask& task_;
  const TrainingOptions& options_;
  const TrainJobControl control_;
  Worker& worker_;
  Device& device_;
  const nn::Network& network_;
  MiniBatchQueue queue_;
  TrainingIteration step_;
  using Average = std::function<Tree(const Tree& average, const Tree& parameters, const Operand& share)>;
  AcceleratedFunction<Average> average_;
  NetworkEvaluator evaluate_;
  const ValidationPlan validation_;
  TrainingReport report_;
  const CopyKeeper keeper_;
  std::optional<SnapshotCopies> copies_;  // of the worker that keeps them
  RunState state_;
  int64_t restored_ = 0;               // iterations of the state that restore() got
  NamedValues owner_;                  // of checkpoints, once there is one
  std::optional<Step> waiting_;        // whose loss is not known
  std::string stop_reason_;            // why it ended before the last epoch was complete
  LossCause cause_;                    // of worker 0, where that is a loss
  std::optional<NetworkScore> score_;  // of the test set, after the last step
};

}  // namespace retrace
