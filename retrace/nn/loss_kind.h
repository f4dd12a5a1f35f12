#pragma once
// Losses by name: retrace/nn/losses/NAME.cpp defines `LossKind NAME_loss()`.

#include <functional>

#include "retrace/base/kinds.h"
#include "retrace/nn/output.h"

namespace retrace::nn {

struct LossKind {
  std::string name;                 // "cross-entropy"
  std::string_view help;            // one line
  std::vector<OutputKind> outputs;  // those that it can train
  // One number from an output and its target, each with the batch axis first. Differentiable in y.
  std::function<Tensor(const Tensor& y, const Tensor& target)> loss;
  bool squares = false;  // it is a sum of squares of y - target, times a number
  bool mean = false;     // it is the mean over all elements of a number that is 0 where y = target
  // The same with the options of the output, where it has some; null: this loss takes none.
  std::function<Tensor(const Tensor& y, const Tensor& target, const NetworkOutput& output)> loss_with_options = {};
};

// Every loss, in the order of the files. Generated.
const std::vector<LossKind>& all_losses();

// The loss of a network: the sum over its outputs of weight * loss(y[name], targets[name]), in their order; a weight of
// 1 multiplies nothing. Throws Error(usage) for a name that no loss has, a loss that cannot train such an output, and
// options that the loss does not take or that are out of range.
std::function<Tensor(const Tree& y, const Tree& targets)> loss_of(const std::vector<NetworkOutput>& outputs,
                                                                  Place place = Place::here());

}  // namespace retrace::nn
