#include "retrace/ops/group_norm/group_norm.h"

#include "retrace/ops/moments/moments.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pointwise.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

constexpr const char* kGroupNormArguments[] = {"x", "scale", "offset"};

std::vector<TensorSpec> infer_group_norm(const InferCall& call) {
  check_float(call, 0, "x");
  const TensorSpec& x = call.inputs[0];
  const int channel = x.labels.find('C');
  const bool labelled = x.labels.empty() || (x.labels.find('B') == 0 && channel == x.shape.rank() - 1);
  if (x.shape.rank() < 2 || !labelled)
    op_error(call, 265, "x has no samples, or its channels are not last", "x " + x.text(),
             "samples first and channels last: [batch,..,channels], or labels such as \"BSSC\"");
  const int64_t channels = x.shape.back(), groups = call.attributes.integer("groups");
  if (groups < 1 || channels % groups != 0)
    op_error(call, 266, fmt::format("{} groups of {} channels", groups, channels), "x " + x.text(),
             "a number of groups that divides the channels");
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    check_same_type(call, static_cast<int>(i), kGroupNormArguments[i]);
    if (call.inputs[i].shape == Shape{channels}) continue;
    op_error(call, 135, fmt::format("{} does not fit the {} channels of x", kGroupNormArguments[i], channels),
             fmt::format("x {}, {} {}", x.text(), kGroupNormArguments[i], call.inputs[i].text()),
             fmt::format("the shape [{}]", channels));
  }
  return {x};
}

// x as [samples,positions,groups,channels of a group], or [samples,positions,channels], and the axes of a group.
struct Grouped {
  Grouped(const Tensor& x, const Attributes& attributes, Place place) : place(place) {
    const int64_t channels = x.shape().back(), groups = attributes.integer("groups"), samples = x.shape()[0];
    const int64_t positions = x.shape().count(1, x.rank() - 1);
    size = positions * (channels / groups);
    shape =
        groups == channels ? Shape{samples, positions, channels} : Shape{samples, positions, groups, channels / groups};
    axes = groups == channels ? Shape{1} : Shape{1, 3};
    own = groups == channels ? Shape{channels} : Shape{groups, channels / groups};
    const Tensor all = split(x);
    const auto [mean, m2] = moments(all, axes, {.keep = true}, place);
    inv = 1 / sqrt(m2 / size + constant_like(x, attributes.number("epsilon")), place);
    xhat = (all - mean) * inv;
  }
  Tensor split(const Tensor& x) const { return reshape(x, shape, "", place); }
  Tensor of_channels(const Tensor& x) const { return reshape(x, own, "", place); }
  Tensor mean_of(const Tensor& x) const { return sum(x, axes, {.keep = true}, place) / size; }

  Place place;
  int64_t size = 0;  // numbers of a group
  Shape shape, axes, own;
  Tensor inv, xhat;
};

Tensor like_group_norm(const Tensor& made, const Tensor& x, Place place) {
  return reshape(made, x.shape(), x.labels(), place);
}

std::vector<Tensor> lower_group_norm(const LowerCall& call) {
  const Grouped n(call.inputs[0], call.attributes, call.place);
  const Tensor y = n.xhat * n.of_channels(call.inputs[1]) + n.of_channels(call.inputs[2]);
  return {like_group_norm(y, call.inputs[0], call.place)};
}

std::vector<Tensor> gradient_group_norm(const GradientCall& call) {
  const Grouped n(call.inputs[0], call.attributes, call.place);
  const Tensor dy = n.split(call.cotangents[0]);
  std::vector<Tensor> result(3);
  if (call.needed[0]) {
    const Tensor g = dy * n.of_channels(call.inputs[1]);
    const Tensor along = n.xhat * n.mean_of(g * n.xhat);
    result[0] = like_group_norm(n.inv * ((g - n.mean_of(g)) - along), call.inputs[0], call.place);
  }
  const auto per_channel = [&](const Tensor& made, int input) {
    const Tensor all = like_group_norm(made, call.inputs[0], call.place);
    result[static_cast<size_t>(input)] = sum_to(all, call.inputs[static_cast<size_t>(input)], call.place);
  };
  if (call.needed[1]) per_channel(dy * n.xhat, 1);
  if (call.needed[2]) per_channel(dy, 2);
  return result;
}

}  // namespace

Tensor group_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, int64_t groups,
                  const GroupNormOptions& options, Place place) {
  static const Op& op = find_op("group_norm");
  return record_one(op, {{"groups", groups}, {"epsilon", options.epsilon}}, {x, scale, offset}, place);
}

Tensor instance_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, const GroupNormOptions& options,
                     Place place) {
  return group_norm(x, scale, offset, x.rank(place) == 0 ? 1 : x.shape().back(), options, place);
}

void define_group_norm(OpTable& table) {
  table.add({.name = "group_norm",
             .inputs = 3,
             .attributes = {"groups", "epsilon"},
             .infer = infer_group_norm,
             .gradient = gradient_group_norm,
             .lower = lower_group_norm});
}

}  // namespace retrace
