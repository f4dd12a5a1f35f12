#include "retrace/ops/checkpoint/checkpoint_gradient.h"

#include "retrace/autodiff/gradient.h"
#include "retrace/ops/checkpoint/checkpoint.h"

namespace retrace {

// The function once more, of values that plans do not take for those of the forward pass, and its vjp.
std::vector<Tensor> checkpoint_gradient(const GradientCall& call) {
  std::vector<Tensor> x;
  for (const Tensor& input : call.inputs) x.push_back(recomputed(input, call.place));
  const auto y = current_recording()->splice(*call.attributes.trace("body"), x, {}, call.place);
  return vjp(y, call.cotangents, x, call.place);
}

}  // namespace retrace
