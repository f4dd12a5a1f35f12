#pragma once
// The four networks of the examples as users train them: a pure step of value_and_grad, a solver and update_statistics,
// on one synthetic mini-batch that stays in memory.
//
//   digits       batch 32, Adam 0.0001         peaks        40,000 samples at once, Adam 0.08
//   autoencoder  batch 500, Adam 0.001         cifar10      batch 256, SGDM 0.01, L2 factor 1e-10
//
// bench/peers/workloads.py has the same data.

#include <optional>

#include "retrace/run/accelerate.h"
#include "retrace/train/job.h"
#include "retrace/train/training_step.h"

namespace retrace::bench {

// What a worker has of a mini-batch that all share alike, with a shard for each; null: all of it.
struct Share {
  Worker* worker = nullptr;
  int64_t samples = 0;  // of this worker
};

class Workload {
 public:
  Workload(const std::string& name, bool accelerated, Device& device = cpu_device(), const Share& share = {});

  // One step of training. Unless it is accelerated, its update is only recorded, and computed with the next step, as in
  // any loop. Returns the loss.
  Tensor train();
  // The outputs for the mini-batch.
  Tree predict() const;
  // Back to the starting values.
  void restart();

  const Tree& parameters() const { return now_.parameters; }
  const Tree& state() const { return now_.state; }

 private:
  nn::Network network_;
  Job job_;
  float learn_rate_;
  Device& device_;
  Tensor x_;
  Tree targets_;
  TrainingState now_;
  TrainingStep step_;
  std::optional<AcceleratedFunction<TrainingStep>> accelerated_;
  std::function<Tree(const Tree&, const Tree&, const Tensor&)> predict_;
};

}  // namespace retrace::bench
