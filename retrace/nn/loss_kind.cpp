#include "retrace/nn/loss_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/error.h"
#include "retrace/base/joined.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/isfinite/isfinite.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"

namespace retrace::nn {
namespace {

bool has_options(const NetworkOutput& output) {
  return output.label_smoothing != 0 || output.ignore_index || !output.class_weights.empty();
}

const char* option_of(const NetworkOutput& output) {
  if (output.ignore_index) return "ignore_index";
  return output.class_weights.empty() ? "label_smoothing" : "class_weights";
}

// Numbers from 0 on, of which one is not 0.
bool are_weights(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && std::isfinite(v); }) &&
         std::any_of(values.begin(), values.end(), [](double v) { return v > 0; });
}

void check_options(const LossKind& kind, const NetworkOutput& output, Place place) {
  if (!(output.label_smoothing >= 0 && output.label_smoothing <= 1))
    throw Error(ErrorKind::usage, 268,
                fmt::format("the label_smoothing of the output \"{}\" is out of range", output.name))
        .where(place)
        .got(fmt::format("{}", output.label_smoothing))
        .expected("a number from 0 to 1");
  if (!output.class_weights.empty() && !are_weights(output.class_weights))
    throw Error(ErrorKind::usage, 291,
                fmt::format("the class_weights of the output \"{}\" are not usable", output.name))
        .where(place)
        .got(joined(output.class_weights, ", "))
        .expected("a number from 0 on for each class, not all of them 0");
  if (has_options(output) && !kind.loss_with_options)
    throw Error(ErrorKind::usage, 269,
                fmt::format("the loss \"{}\" takes no label_smoothing, ignore_index or class_weights", kind.name))
        .where(place)
        .got(fmt::format("the output \"{}\" with {}", output.name, option_of(output)))
        .expected("loss = \"cross-entropy\"");
}

const LossKind& checked_loss(const NetworkOutput& output, Place place) {
  const LossKind& kind = kind_of(all_losses(), output.loss, "loss", place);
  if (std::count(kind.outputs.begin(), kind.outputs.end(), output.kind)) {
    check_options(kind, output, place);
    return kind;
  }
  throw Error(ErrorKind::usage, 197,
              fmt::format("the loss \"{}\" cannot train the output \"{}\"", kind.name, output.name))
      .where(place)
      .got(fmt::format("an output of {}", text_of(output.kind)))
      .help(output.kind == OutputKind::values &&
                    std::count(kind.outputs.begin(), kind.outputs.end(), OutputKind::class_scores)
                ? "targets of classes are whole numbers, i32; values have losses such as \"mean-squared-error\""
                : "");
}

// Of series: padding counts neither in the sum nor in the number of elements.
Tensor loss_of_series(const LossKind& kind, const Tensor& y, const Tensor& target) {
  const Tensor missing = isnan(target), zero = constant_like(y, 0);
  const Tensor loss = kind.loss(where(missing, zero, y), where(missing, zero, target));
  if (!kind.mean) return loss;
  const Tensor counted = sum(cast(logical_not(missing), DType::f32));
  return loss * (constant(static_cast<double>(y.size()), DType::f32) / maximum(counted, constant(1, DType::f32)));
}

Tensor loss_of_output(const LossKind& kind, const NetworkOutput& output, const Tensor& y, const Tensor& target) {
  if (output.kind == OutputKind::series_values) return loss_of_series(kind, y, target);
  const bool padded = output.kind == OutputKind::series_scores || output.kind == OutputKind::pixel_scores;
  return has_options(output) || padded ? kind.loss_with_options(y, target, output) : kind.loss(y, target);
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
      Tensor loss = loss_of_output(*kinds[i], output, y[output.name], targets[output.name]);
      if (output.weight != 1) loss = output.weight * loss;
      sum = sum.defined() ? sum + loss : loss;
    }
    return sum;
  };
}

}  // namespace retrace::nn
