// softmax_cross_entropy with options: one op of targets that are weighted, and its divisor.
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/gather_rows/gather_rows.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/loss.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/softmax/softmax.h"
#include "retrace/ops/softmax_cross_entropy/class_numbers.h"
#include "retrace/ops/softmax_cross_entropy/softmax_cross_entropy.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

constexpr std::string_view kName = "softmax_cross_entropy: ";

// -- the op: scores x, weighted targets t of their shape, the number that the sum is divided by
// ------------------------

std::vector<TensorSpec> infer_weighted(const InferCall& call) {
  const InferCall both{call.op, call.attributes, call.inputs.first(2), call.place};
  return infer_loss(both);
}

std::vector<Tensor> lower_weighted(const LowerCall& call) {
  const Tensor &x = call.inputs[0], &t = call.inputs[1], zero = constant_like(x, 0);
  const Tensor term = where(equal(t, zero, call.place), zero, t * surprise(x, call.place), call.place);
  return {sum(term, {}, {}, call.place) / call.inputs[2]};
}

std::vector<Tensor> gradient_weighted(const GradientCall& call) {
  const Tensor &x = call.inputs[0], &t = call.inputs[1], &divisor_cross_entropy_options = call.inputs[2];
  const Tensor scale = call.cotangents[0] / divisor_cross_entropy_options;
  std::vector<Tensor> result(3);
  if (call.needed[0]) {
    const Tensor weight = sum(t, -1, {.keep = true}, call.place);
    const Tensor without = equal(weight, constant_like(x, 0), call.place);
    result[0] = scale * where(without, -t, softmax(x, -1, call.place) * weight - t, call.place);
  }
  if (call.needed[1]) result[1] = scale * surprise(x, call.place);
  if (call.needed[2]) result[2] = -(scale * call.outputs[0]);
  return result;
}

// -- weighted targets and divisors
// ---------------------------------------------------------------------------------------

struct Call {
  const Tensor &x, &t;
  const CrossEntropyOptions& options;
  Place place;
};

[[noreturn]] void refuse_cross_entropy_options(const Call& call, std::string_view what, std::string got,
                                               std::string_view expected) {
  throw Error(ErrorKind::usage, 236, std::string(kName).append(what))
      .where(call.place)
      .got(fmt::format("x {}, {}", call.x.spec().text(), got))
      .expected(std::string(expected));
}

void check_options_cross_entropy_options(const Call& call, bool numbers) {
  const auto& [x, t, options, place] = call;
  if (x.rank() == 0 || (x.spec().labels.find('C') >= 0 && x.spec().labels.find('C') != x.rank() - 1))
    refuse_cross_entropy_options(call, "the classes are not the last axis",
                                 fmt::format("the target {}", t.spec().text()), "x [..,classes]");
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    refuse_cross_entropy_options(call, fmt::format("label_smoothing is {}", options.label_smoothing),
                                 fmt::format("{}", options.label_smoothing), "a number from 0 to 1");
  if (options.ignore_index && !numbers)
    refuse_cross_entropy_options(call, "ignore_index is for class numbers",
                                 fmt::format("the target {}", t.spec().text()),
                                 "a target i32 or u8 of the axes of x but the last; or a mask");
  const Tensor &weights = options.weights, &mask = options.mask;
  if (weights.defined() &&
      (weights.rank() != 1 || weights.type() != x.type() || weights.shape()[0] != x.shape().back()))
    refuse_cross_entropy_options(call, "the weights do not fit", fmt::format("weights {}", weights.spec().text()),
                                 fmt::format("one of each class: {}[{}]", name_of(x.type()), x.shape().back()));
  if (!mask.defined()) return;
  const bool fits =
      mask.rank() + 1 == x.rank() && std::equal(mask.shape().begin(), mask.shape().end(), x.shape().begin());
  if (mask.type() != DType::boolean || !fits)
    refuse_cross_entropy_options(call, "the mask does not fit", fmt::format("mask {}", mask.spec().text()),
                                 "bool of the axes of x but the last, true where a position counts");
}

// x's shape with one class, for what each position has; keeps x's labels.
Tensor column_cross_entropy_options(const Tensor& positions, const Call& call) {
  Shape shape = positions.shape();
  shape.push_back(1);
  return reshape(positions, shape, call.x.labels(), call.place);
}

// Which positions count; undefined: all.
Tensor counted(const Call& call) {
  const auto& [x, t, options, place] = call;
  Tensor all = options.mask;
  if (!options.ignore_index) return all;
  const Tensor index = as_index(t, place);
  const Tensor valid = not_equal(index, constant(static_cast<double>(*options.ignore_index), DType::i32), place);
  return all.defined() ? logical_and(valid, all, place) : valid;
}

// Targets of class numbers, and the weight of each position; undefined: 1.
struct Weighted {
  Tensor targets, positions;
};

Tensor smoothed(const Tensor& t, const Call& call) {
  const double epsilon = call.options.label_smoothing;
  if (epsilon == 0) return t;
  const auto number = [&](double value) { return constant(value, call.x.type()); };
  return t * number(1 - epsilon) + number(epsilon / static_cast<double>(call.x.shape().back()));
}

Weighted weighted(const Call& call, bool numbers) {
  const auto& [x, t, options, place] = call;
  const Tensor valid = counted(call);
  const Tensor factor = valid.defined() ? cast(valid, x.type(), place) : Tensor();
  Weighted result{t, factor};
  if (numbers) {
    Tensor index = as_index(t, place);
    if (valid.defined()) index = where(valid, index, constant(0, DType::i32), place);
    const auto [of_positions, classes] = class_targets(x, index, place);
    result.targets = hits(of_positions, classes, place);
    if (options.weights.defined()) {
      const Tensor own = gather_rows(options.weights, index, place);
      result.positions = factor.defined() ? own * factor : own;
    }
  }
  result.targets = smoothed(result.targets, call);
  if (options.weights.defined()) result.targets = result.targets * options.weights;
  if (factor.defined()) result.targets = result.targets * column_cross_entropy_options(factor, call);
  return result;
}

Tensor divisor_cross_entropy_options(const Call& call, const Tensor& positions) {
  const auto& [x, t, options, place] = call;
  const bool chosen = options.weights.defined() || options.ignore_index || options.mask.defined();
  const CrossEntropyMean mean =
      options.mean.value_or(chosen ? CrossEntropyMean::weights : CrossEntropyMean::observations);
  if (mean == CrossEntropyMean::weights && positions.defined()) return sum(positions, {}, {}, place);
  double count = 1;
  if (mean == CrossEntropyMean::observations) count = static_cast<double>(observation_count(x));
  if (mean == CrossEntropyMean::weights) count = static_cast<double>(x.size() / x.shape().back());
  return constant(count, x.type());
}

}  // namespace

Tensor softmax_cross_entropy(const Tensor& x, const Tensor& t, const CrossEntropyOptions& options, Place place) {
  static const Op& op = find_op("weighted_cross_entropy");
  const Call call{x, t, options, place};
  const bool numbers = are_class_numbers(x, t, place), fits = can_compare_classes(x, t);
  if (!is_float(x.type()) || (numbers && !fits) || (!numbers && !(x.shape() == t.shape())))
    return softmax_cross_entropy(x, t, place);  // says what is wrong
  check_options_cross_entropy_options(call, numbers);
  const Weighted made = weighted(call, numbers);
  return record_one(op, {}, {x, made.targets, divisor_cross_entropy_options(call, made.positions)}, place);
}

void define_weighted_cross_entropy(OpTable& table) {
  table.add({.name = "weighted_cross_entropy",
             .inputs = 3,
             .infer = infer_weighted,
             .gradient = gradient_weighted,
             .lower = lower_weighted});
}

}  // namespace retrace
