#ifndef RETRACE_OPS_CTC_LOSS_H
#define RETRACE_OPS_CTC_LOSS_H
// Loss of sequences whose targets are shorter and not aligned.

#include <string>

#include "retrace/tensor/tensor.h"

namespace retrace {

// Options of ctc_loss.
struct CtcOptions {
  Tensor lengths = {};             // [batch], i32 or u8: the positions of x that count; default: all
  Tensor target_lengths = {};      // [batch], i32 or u8: the classes of the targets that count; default: all
  int64_t blank = 0;               // the class that stands for nothing
  std::string reduction = "mean";  // "mean": each loss by its target's length (1 for none), then of the batch; or
                                   // "sum", or "none": [batch]
  bool zero_infinity = false;      // 0 in place of infinity, for targets that cannot be made
};

// Connectionist temporal classification (Graves et al. 2006; PyTorch: ctc_loss of log_softmax(x)): minus the logarithm
// of the probability that x says its target, summed over all ways of saying it: each position says a class or the
// blank, repetitions are one, and blanks are left out.
//   p = x - logsumexp(x) over the classes;  l = blank, t[0], blank, t[1], .., blank
//   a[t][s] = lse(a[t-1][s], a[t-1][s-1], a[t-1][s-2] if l[s] is neither blank nor l[s-2]) + p[t][l[s]]
//   loss = -logsumexp(the last two of a that count)
// with lse(..) = m + log(exp(a - m) + exp(b - m) + exp(c - m)), m their maximum, and -1e30 for what cannot be. The loop
// is a scan, and so is its gradient, of any order. x are logits [batch,time,classes], f32 or f64, unlabelled or "BTC";
// targets are class numbers [batch,positions], i32 or u8; what is behind their length may be anything. A target that
// does not fit into its length has the loss infinity, and no gradient. Error(usage) for shapes and types that do not
// fit, for a blank that is no class and for another reduction; where it is computed, for class numbers outside of the
// classes and target lengths outside of the targets (as of take_along_axis).
Tensor ctc_loss(const Tensor& x, const Tensor& targets, const CtcOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_CTC_LOSS_H
