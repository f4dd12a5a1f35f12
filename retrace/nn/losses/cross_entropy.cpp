#include "retrace/ops/cross_entropy/cross_entropy.h"

#include "retrace/nn/loss_kind.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/one_hot/one_hot.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"

namespace retrace::nn {

namespace {

// The rows of y, [n,classes], and a class number for each.
struct Rows {
  Tensor y, numbers;
};
Rows rows_of(const Tensor& y, const Tensor& target) {
  if (y.rank() == 2) return {y, target};
  return {reshape(y, {target.size(), y.shape().back()}), reshape(target, {target.size()})};
}

Tensor weights_of(const NetworkOutput& output, int64_t classes) {
  check_class_weights(output, classes);
  const std::vector<float> weights(output.class_weights.begin(), output.class_weights.end());
  return Tensor::from(weights, {1, classes});
}

// The mean over the rows that count; 0 where none does.
Tensor with_options(const Tensor& y, const Tensor& target, const NetworkOutput& output) {
  const auto [rows, given] = rows_of(y, target);
  const int64_t classes = y.shape().back();
  Tensor numbers = given.type() == DType::i32 ? given : cast(given, DType::i32), counted;
  const auto leave_out = [&](int64_t number) {
    const Tensor others = not_equal(numbers, constant(static_cast<double>(number), DType::i32));
    counted = counted.defined() ? logical_and(counted, others) : others;
  };
  if (output.ignore_index) leave_out(*output.ignore_index);
  if (has_padding(output.kind)) leave_out(-1);
  if (counted.defined()) numbers = where(counted, numbers, constant(0, DType::i32));
  const Tensor hot = one_hot(numbers, classes);
  Tensor t = hot, share;  // what each row counts; undefined: 1
  const auto number = [](double value) { return constant(value, DType::f32); };
  if (const double share = output.label_smoothing; share != 0)
    t = t * number(1 - share) + number(share / static_cast<double>(classes));
  if (!output.class_weights.empty()) {
    const Tensor weights = weights_of(output, classes).to(y.device());
    t = t * weights;
    share = sum(hot * weights, 1);
  }
  if (counted.defined()) {
    const Tensor factor = cast(counted, DType::f32);
    t = t * reshape(factor, {factor.size(), 1}, t.labels());
    share = share.defined() ? share * factor : factor;
  }
  if (!share.defined()) return cross_entropy(rows, t);
  const double least = output.class_weights.empty() ? 1 : 1e-30;  // where nothing counts, the loss is 0
  return cross_entropy(rows, t) * (number(static_cast<double>(share.size())) / maximum(sum(share), least));
}

}  // namespace

LossKind cross_entropy_loss() {
  return {.name = "cross-entropy",
          .help = "minus the logarithm of the right class's probability, mean over the samples and positions",
          .outputs = {OutputKind::class_scores, OutputKind::position_scores, OutputKind::series_scores,
                      OutputKind::pixel_scores},
          .loss =
              [](const Tensor& y, const Tensor& target) {
                const int64_t classes = y.shape().back();
                if (y.rank() == 2) return cross_entropy(y, one_hot(target, classes));
                return cross_entropy(reshape(y, {target.size(), classes}),
                                     one_hot(reshape(target, {target.size()}), classes));
              },
          .loss_with_options = with_options};
}

}  // namespace retrace::nn
