#include "retrace/optim/regularize.h"

#include <bit>

#include "retrace/ops/add/add.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/negate/negate.h"
#include "retrace/ops/op.h"
#include "retrace/ops/sqrt/sqrt.h"
#include "retrace/ops/square/square.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"
#include "retrace/optim/parameter_groups.h"
#include "retrace/optim/update_trees.h"

namespace retrace {
namespace {

// By the name of the leaf, the last of its path.
bool is_spared(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "bias" || name == "recurrent_bias" || name == "scale" || name == "offset";
}

// The tree of docs/numerics.md 0 over tensors.
Tensor tree_sum(std::span<const Tensor> parts, Place place) {
  if (parts.size() == 1) return parts[0];
  const size_t left = std::bit_floor(parts.size() - 1);
  return add(tree_sum(parts.first(left), place), tree_sum(parts.subspan(left), place), place);
}

// What a gradient with that sum of squares is multiplied by; a norm that is not a number scales to that.
Tensor scale_of(const Tensor& squares, const Tensor& threshold, Place place) {
  const Tensor norm = sqrt(squares, place);
  return where(less_equal(norm, threshold, place), constant_like(norm, 1), divide(threshold, norm, place), place);
}

Tensor clipped_elements(const Tensor& g, const Tensor& threshold, Place place) {
  const Tensor low = negate(threshold, place);
  return where(greater(g, threshold, place), threshold, where(less(g, low, place), low, g, place), place);
}

}  // namespace

Tree l2_regularization(const Tree& parameters, const Tree& gradients, const Operand& factor, Place place) {
  check_rate("l2_regularization", "factor", factor, place);
  check_gradients("l2_regularization", parameters, gradients, place);
  auto found = leaf_tensors(gradients);
  const auto named = leaves(parameters);
  Number number(factor);
  for (size_t i = 0; i < found.size(); ++i)
    if (const auto& [path, parameter] = named[i]; !is_spared(path))
      found[i] = add(found[i], multiply(number.as(parameter.type()), parameter, place), place);
  return with_leaves(gradients, found);
}

Tree l2_regularization(const Tree& parameters, const Tree& gradients, const Operand& factor,
                       const std::vector<ParameterGroup>& groups, Place place) {
  check_rate("l2_regularization", "factor", factor, place);
  check_gradients("l2_regularization", parameters, gradients, place);
  Tree found = gradients;
  for (const auto& part : parameter_parts(leaf_training(parameters, groups, place), place)) {
    const Tree own = part.of(parameters);
    const DType type = leaf_tensors(own)[0].type();
    const Operand own_factor =
        part.how.l2 == 1 ? factor : Operand(Number(factor).as(type) * Tensor::full(part.how.l2, {}, type));
    if (part.how.l2 != 0) found = part.put(found, l2_regularization(own, part.of(gradients), own_factor, place));
  }
  return found;
}

Tree clip_gradients(const Tree& gradients, const Operand& threshold, Clip method, Place place) {
  check_rate("clip_gradients", "threshold", threshold, place);
  auto found = leaf_tensors(gradients);
  if (found.empty()) return gradients;
  Number number(threshold);
  std::vector<Tensor> squares;
  if (method != Clip::absolute_value)
    for (const auto& g : found) squares.push_back(sum(square(g, place), {}, {}, place));
  Tensor shared;
  if (method == Clip::global_l2_norm) shared = scale_of(tree_sum(squares, place), number.as(found[0].type()), place);
  for (size_t i = 0; i < found.size(); ++i) {
    const Tensor limit = number.as(found[i].type());
    if (method == Clip::absolute_value)
      found[i] = clipped_elements(found[i], limit, place);
    else
      found[i] = multiply(found[i], shared.defined() ? shared : scale_of(squares[i], limit, place), place);
  }
  return with_leaves(gradients, found);
}

}  // namespace retrace
