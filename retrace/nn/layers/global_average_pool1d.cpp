#include "retrace/nn/layers/global_average_pool1d.h"

#include "retrace/nn/layer_kind.h"
#include "retrace/ops/average_pool1d/average_pool1d.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/where/where.h"

namespace retrace::nn {
namespace {

// The sum of the positions that count, divided by their number.
Tensor masked_average(const Tensor& x, const Tensor& mask, Place place) {
  const Tensor counts = reshape(mask, {mask.shape()[0], mask.shape()[1], 1}, "", place);
  const Tensor counted = where(counts, reshape(x, x.shape(), "", place), constant_like(x, 0), place);
  const Tensor number = sum(cast(counts, x.type(), place), {1}, {.keep = true}, place);
  return reshape(divide(sum(counted, {1}, {.keep = true}, place), number, place), {x.shape()[0], 1, x.shape()[2]},
                 x.labels(), place);
}

}  // namespace

Layer global_average_pool1d(Place place) {
  return Layer(
             "",
             [=](Walk& walk, const Tree& input) {
               const Tensor &x = input.tensor(), mask = walk.mask_of(x);
               return Tree(mask.defined() ? masked_average(x, mask, place) : retrace::global_average_pool1d(x, place));
             })
      .shown_as("global_average_pool1d")
      .with_options({});
}

LayerKind global_average_pool1d_layer() {
  return {.name = "global_average_pool1d",
          .help = "the mean of each channel over the whole sequence",
          .layer = [](const OptionValues&) { return global_average_pool1d(); }};
}

}  // namespace retrace::nn
