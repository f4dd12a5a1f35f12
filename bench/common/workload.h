#pragma once
// The four networks of the examples as users train them: a custom loop over value_and_grad, a solver and
// update_statistics, on one synthetic mini-batch that stays in memory.
//
//   digits       batch 32, Adam 0.001          peaks        40,000 samples at once, Adam 0.08
//   autoencoder  batch 500, Adam 0.001         cifar10      batch 256, SGDM 0.1, L2 factor 1e-10
//
// bench/peers/workloads.py has the same data.

#include "retrace/nn/networks.h"
#include "retrace/optim/adam.h"
#include "retrace/optim/sgdm.h"

namespace retrace::bench {

class Workload {
 public:
  explicit Workload(const std::string& name);

  // One step of training; its update is recorded, and computed with the next step, as in any loop. Returns the loss.
  Tensor train();
  // The outputs for the mini-batch.
  Tree predict() const;
  // Back to the starting values.
  void restart();

  const Tree& parameters() const { return parameters_; }
  const Tree& state() const { return state_; }

 private:
  std::string name_;
  nn::Network network_;
  Tensor x_;
  Tree targets_, parameters_, state_;
  AdamState adam_;
  SgdmState sgdm_;
};

}  // namespace retrace::bench
