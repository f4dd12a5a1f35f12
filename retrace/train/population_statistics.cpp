#include "retrace/train/population_statistics.h"

#include <cmath>

#include "retrace/ops/cast/cast.h"

namespace retrace {
namespace {

std::vector<double> numbers(const Tensor& tensor) { return cast(tensor, DType::f64).to_vector<double>(); }

// In the form of the old value.
Tensor stored(std::vector<double> values, const Tensor& old) {
  const bool narrow = old.type() == DType::f32;
  for (double& value : values) {
    if (narrow) value = static_cast<float>(value);
    if (std::fabs(value) < 0x1p-126) value = 0;
  }
  const Tensor made = Tensor::from(values, old.shape(), old.labels());
  return (narrow ? cast(made, DType::f32) : made).to(old.device());
}

}  // namespace

void PopulationMoments::add(const Tree& moments) { add("", moments); }

void PopulationMoments::add(const std::string& path, const Tree& moments) {
  if (moments.mark() != "moments") {
    for (const auto& [name, child] : moments.children()) add(path + "/" + name, child);
    return;
  }
  Norm& all = norms_[path];
  const double count = moments["count"].tensor().number();
  const auto mean = numbers(moments["mean"].tensor()), m2 = numbers(moments["m2"].tensor());
  if (all.count == 0) {
    all = {count, mean, m2};
    return;
  }
  const double share = count / (all.count + count), weight = all.count * share;
  for (size_t c = 0; c < mean.size(); ++c) {
    const double delta = mean[c] - all.mean[c];
    all.mean[c] = std::fma(delta, share, all.mean[c]);
    all.m2[c] = (all.m2[c] + m2[c]) + (delta * delta) * weight;
  }
  all.count += count;
}

Tree PopulationMoments::statistics(const Tree& state) const { return with_statistics("", state); }

Tree PopulationMoments::with_statistics(const std::string& path, const Tree& state) const {
  if (state.is_leaf()) return state;
  Tree result = state;
  if (const auto found = norms_.find(path); found != norms_.end()) {
    const Norm& norm = found->second;
    std::vector<double> variance;
    for (const double m2 : norm.m2) variance.push_back(m2 / norm.count);
    result["mean"] = stored(norm.mean, state["mean"].tensor());
    result["variance"] = stored(variance, state["variance"].tensor());
    return result;
  }
  for (const auto& [name, child] : state.children()) result[name] = with_statistics(path + "/" + name, child);
  return result;
}

}  // namespace retrace
