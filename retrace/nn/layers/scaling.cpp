#include "retrace/nn/layers/scaling.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"

namespace retrace::nn {
namespace {

constexpr double kMostScale = 1e30;

}  // namespace

Layer scaling(double scale, double offset, Place place) {
  const auto scaled = [=](const Tensor& x) {
    const Tensor product = scale == 1 ? x : multiply(x, constant_like(x, scale), place);
    return offset == 0 ? product : add(product, constant_like(x, offset), place);
  };
  return layer_of(scaled, "scaling").with_options({{"scale", scale}, {"offset", offset}});
}

LayerKind scaling_layer() {
  return {
      .name = "scaling",
      .help = "x * scale + offset",
      .options = {{.name = "scale", .help = "the factor", .standard = 1.0, .low = -kMostScale, .high = kMostScale},
                  {.name = "offset", .help = "what is added", .standard = 0.0, .low = -kMostScale, .high = kMostScale}},
      .layer = [](const OptionValues& options) { return scaling(options.number("scale"), options.number("offset")); }};
}

}  // namespace retrace::nn
