#include "retrace/nn/loss_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/error.h"
#include "retrace/ops/operators.h"

namespace retrace::nn {
namespace {

const LossKind& checked_loss(const NetworkOutput& output, Place place) {
  const LossKind& kind = kind_of(all_losses(), output.loss, "loss", place);
  if (std::count(kind.outputs.begin(), kind.outputs.end(), output.kind)) return kind;
  throw Error(ErrorKind::usage, 197,
              fmt::format("the loss \"{}\" cannot train the output \"{}\"", kind.name, output.name))
      .where(place)
      .got(fmt::format("an output of {}", text_of(output.kind)));
}

}  // namespace

std::function<Tensor(const Tree& y, const Tree& targets)> loss_of(const std::vector<NetworkOutput>& outputs,
                                                                  Place place) {
  std::vector<const LossKind*> kinds;
  for (const auto& output : outputs) kinds.push_back(&checked_loss(output, place));
  return [outputs, kinds](const Tree& y, const Tree& targets) {
    Tensor sum;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto& output = outputs[i];
      Tensor loss = kinds[i]->loss(y[output.name], targets[output.name]);
      if (output.weight != 1) loss = output.weight * loss;
      sum = sum.defined() ? sum + loss : loss;
    }
    return sum;
  };
}

}  // namespace retrace::nn
