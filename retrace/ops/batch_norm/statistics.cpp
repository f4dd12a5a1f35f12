// Running statistics from the moments of a batch.
#include <fmt/format.h>

#include "retrace/base/fp_environment.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/multiply_add/multiply_add.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/stored_state/stored_state_op.h"

namespace retrace {
namespace {

// An option as the number that multiplies the batch and the one that multiplies the old value: inputs, so that a new
// decay is no new plan.
struct Decay {
  Decay(double decay, DType type) : batch(Tensor::full(decay, {}, type)) {
    const double rounded = type == DType::f64 ? decay : static_cast<float>(decay);
    old = Tensor::full(1 - rounded, {}, type);
  }
  Tensor batch, old;
};

void check_decay(const char* option, double value, Place place) {
  if (value >= 0 && value <= 1) return;  // NaN is not
  throw Error(ErrorKind::usage, 145, fmt::format("update_statistics: {} is {}", option, value))
      .where(place)
      .expected("a number from 0 to 1");
}

class Update {
 public:
  Update(const StatisticsOptions& options, Place place) : options_(options), place_(place) {}

  Tree apply(const Tree& state, const Tree& moments) {
    if (moments.mark() == "moments") return norm(state, moments);
    Tree result = state;
    for (const auto& [name, child] : moments.children()) result[name] = apply(state[name], child);
    return result;
  }

 private:
  Tree norm(const Tree& state, const Tree& moments) {
    const Tensor &mean = state["mean"], &variance = state["variance"], &m2 = moments["m2"];
    if (mean_.empty() || mean_[0].batch.type() != mean.type()) {  // shared by all norms
      mean_.assign(1, Decay(options_.mean_decay, mean.type()));
      variance_.assign(1, Decay(options_.variance_decay, mean.type()));
    }
    const Tensor batch_variance = m2 / cast(moments["count"], m2.type(), place_);
    Tree result = state;
    result["mean"] = blend(mean_[0], moments["mean"], mean);
    result["variance"] = blend(variance_[0], batch_variance, variance);
    return result;
  }

  Tensor blend(const Decay& decay, const Tensor& batch, const Tensor& old) const {
    const Tensor aligned = reshape(batch, old.shape(), old.labels(), place_);
    return stored_state(decay.batch * aligned + decay.old * old, place_);
  }

  StatisticsOptions options_;
  Place place_;
  std::vector<Decay> mean_, variance_;  // none yet, or one
};

Tree merge_pair(const Tree& a, const Tree& b, Place place) {
  const Tensor &mean_a = a["mean"], &mean_b = b["mean"], &m2_a = a["m2"], &m2_b = b["m2"];
  const DType type = mean_a.type();
  const Tensor count = Operand(a["count"], place) + Operand(b["count"], place);
  const Tensor r = cast(b["count"], type, place) / cast(count, type, place);
  const Tensor delta = Operand(mean_b, place) - Operand(mean_a, place);
  const Tensor m2 = (m2_a + m2_b) + (delta * delta) * (cast(a["count"], type, place) * r);
  Tree merged{{"count", count}, {"mean", multiply_add(delta, r, mean_a, place)}, {"m2", m2}};
  return merged.set_mark("moments");
}

}  // namespace

Tree update_statistics(const Tree& state, const Tree& moments, const StatisticsOptions& options, Place place) {
  check_decay("mean_decay", options.mean_decay, place);
  check_decay("variance_decay", options.variance_decay, place);
  const FloatingPointScope floating_point;
  return Update(options, place).apply(state, moments);
}

Tree merge_moments(const Tree& a, const Tree& b, Place place) {
  if (a.mark() == "moments") return merge_pair(a, b, place);
  check_same_structure(a, b, "merge_moments", place);
  Tree result;
  for (const auto& [name, child] : a.children()) result[name] = merge_moments(child, b[name], place);
  return result.set_mark(a.mark());
}

}  // namespace retrace
