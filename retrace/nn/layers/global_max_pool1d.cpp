#include "retrace/nn/layers/global_max_pool1d.h"

#include <limits>

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/max_pool1d/max_pool1d.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/where/where.h"

namespace retrace::nn {
namespace {

// The maximum of the positions that count.
Tensor masked_max(const Tensor& x, const Tensor& mask, Place place) {
  const Tensor counts = reshape(mask, {mask.shape()[0], mask.shape()[1], 1}, "", place);
  const Tensor least = constant_like(x, -std::numeric_limits<double>::infinity());
  const Tensor counted = where(counts, reshape(x, x.shape(), "", place), least, place);
  return retrace::global_max_pool1d(reshape(counted, x.shape(), x.labels(), place), place);
}

}  // namespace

Layer global_max_pool1d(Place place) {
  return Layer("",
               [=](Walk& walk, const Tree& input) {
                 const Tensor &x = input.tensor(), mask = walk.mask_of(x);
                 return Tree(mask.defined() ? masked_max(x, mask, place) : retrace::global_max_pool1d(x, place));
               })
      .shown_as("global_max_pool1d")
      .with_options({});
}

LayerKind global_max_pool1d_layer() {
  return {.name = "global_max_pool1d",
          .help = "the maximum of each channel over the whole sequence",
          .layer = [](const OptionValues&) { return global_max_pool1d(); }};
}

}  // namespace retrace::nn
