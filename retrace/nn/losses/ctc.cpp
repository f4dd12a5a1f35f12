#include "retrace/nn/loss_kind.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/ctc_loss/ctc_loss.h"
#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"

namespace retrace::nn {
namespace {

// [batch]: how many positions of [batch,positions] are more than the limit.
Tensor count_above(const Tensor& x, double limit) {
  return sum(cast(greater(x, constant_like(x, limit)), DType::i32), 1);
}

// Padding says nothing but the blank (kNoScore), and stands behind the end of targets (-1).
Tensor loss_ctc(const Tensor& y, const Tensor& target) {
  const Tensor logits = reshape(y, y.shape(), ""), tokens = reshape(target, target.shape(), "");
  const Tensor first = reshape(slice(logits, 2, {1, 2}), {y.shape()[0], y.shape()[1]}, "");
  return ctc_loss(logits, maximum(tokens, constant_like(tokens, 0)),
                  {.lengths = count_above(first, kNoScore / 2), .target_lengths = count_above(tokens, -1), .blank = 0});
}

}  // namespace

LossKind ctc_loss() {
  return {.name = "ctc",
          .help = "minus the logarithm of the probability of the tokens, over their number, in any alignment; mean",
          .outputs = {OutputKind::token_scores},
          .loss = loss_ctc};
}

}  // namespace retrace::nn
