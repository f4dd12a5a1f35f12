#include "retrace/ops/ctc_loss/ctc_loss.h"

#include <limits>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/exp/exp.h"
#include "retrace/ops/identity/identity.h"
#include "retrace/ops/log/log.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/logsumexp/logsumexp.h"
#include "retrace/ops/maximum/maximum.h"
#include "retrace/ops/mean/mean.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/scan/scan.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/take_along_axis/take_along_axis.h"
#include "retrace/ops/transpose/transpose.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

constexpr double kImpossible = -1e30;  // the logarithm of a probability of 0; sums of these stay finite

[[noreturn]] void refuse_ctc_loss(const std::string& message, const std::string& got, const std::string& expected,
                                  Place place, const std::string& help = "") {
  Error error(ErrorKind::usage, 283, "ctc_loss: " + message);
  error.where(place).got(got).expected(expected);
  if (!help.empty()) error.help(help);
  throw error;
}

bool is_class_type(const Tensor& x) { return is_index_type(x.type()); }

void check_lengths(const Tensor& lengths, const char* what, const Tensor& x, Place place) {
  if (!lengths.defined()) return;
  if (is_class_type(lengths) && lengths.shape() == Shape{x.shape()[0]}) return;
  refuse_ctc_loss(fmt::format("{} do not fit", what),
                  fmt::format("{} {}, x {}", what, lengths.spec().text(), x.spec().text()),
                  fmt::format("i32[{}], one for each sample", x.shape()[0]), place);
}

void check_ctc_loss(const Tensor& x, const Tensor& targets, const CtcOptions& options, Place place) {
  check_defined("ctc_loss", x, place), check_defined("ctc_loss", targets, place);
  if (x.rank() != 3 || !is_float(x.type()) || (!x.labels().empty() && x.labels() != "BTC"))
    refuse_ctc_loss("x are no logits of sequences", "x " + x.spec().text(),
                    "f32 or f64 [batch,time,classes], unlabelled or BTC", place,
                    x.rank() == 3 ? "PyTorch has the time first: transpose(x, {1, 0, 2})" : "");
  if (targets.rank() != 2 || !is_class_type(targets) || targets.shape()[0] != x.shape()[0])
    refuse_ctc_loss("the targets do not fit", fmt::format("targets {}, x {}", targets.spec().text(), x.spec().text()),
                    fmt::format("class numbers i32[{},positions]", x.shape()[0]), place,
                    "give shorter targets any number behind their end, and .target_lengths");
  check_lengths(options.lengths, "lengths", x, place);
  check_lengths(options.target_lengths, "target_lengths", x, place);
  if (options.blank < 0 || options.blank >= x.shape()[2])
    refuse_ctc_loss(fmt::format("the blank {} is no class", options.blank), "x " + x.spec().text(),
                    fmt::format("0 to {}", x.shape()[2] - 1), place);
  if (options.reduction != "mean" && options.reduction != "sum" && options.reduction != "none")
    refuse_ctc_loss(fmt::format("there is no reduction \"{}\"", options.reduction), "x " + x.spec().text(),
                    "mean, sum or none", place);
}

Tensor bare(const Tensor& x, Place place) { return reshape(x, x.shape(), "", place); }

// [batch] numbers, i32: those given, or all `standard`.
Tensor counts(const Tensor& given, int64_t standard, const Tensor& targets, Place place) {
  if (given.defined()) return cast(bare(given, place), DType::i32, place);
  return broadcast(constant_like(targets, static_cast<double>(standard)), {targets.shape()[0]}, "", place);
}

Tensor column_ctc_loss(const Tensor& x, Place place) { return reshape(x, {x.shape()[0], 1}, "", place); }

// What a sample may say: blank, target, blank, target, .., blank.
struct Saying {
  Tensor classes;  // [batch,states], i32
  Tensor skip;     // the same, of the type of x: 0 where the state two before may come right before this one
};

Saying saying_of(const Tensor& targets, const Tensor& target_lengths, const Tensor& x, int64_t blank, Place place) {
  const int64_t batch = targets.shape()[0], positions = targets.shape()[1], states = 2 * positions + 1;
  const Tensor nothing = broadcast(constant_like(targets, static_cast<double>(blank)), targets.shape(), "", place);
  const Tensor number = Tensor::arange(static_cast<double>(positions), DType::i32, place).to(x.device(), place);
  const Tensor counted = where(less(number, column_ctc_loss(target_lengths, place), place), targets, nothing, place);
  const Tensor pairs = reshape(stack({nothing, counted}, -1, place), {batch, states - 1}, "", place);
  const Tensor last = broadcast(constant_like(targets, static_cast<double>(blank)), {batch, 1}, "", place);
  const Tensor classes = concatenate({pairs, last}, 1, place);
  const Tensor before = slice(concatenate({last, last, classes}, 1, place), 1, {0, states}, place);
  const Tensor alike = logical_or(equal(classes, before, place),
                                  equal(classes, constant_like(targets, static_cast<double>(blank)), place), place);
  return {classes, where(alike, constant_like(x, kImpossible), constant_like(x, 0), place)};
}

// [time,batch,states]: the logarithms of the probabilities of these classes.
Tensor emissions(const Tensor& x, const Tensor& classes, Place place) {
  const Tensor p = x - logsumexp(x, -1, {.keep = true}, place);
  const Shape shape{x.shape()[0], x.shape()[1], classes.shape()[1]};
  const Tensor lines = reshape(classes, {shape[0], 1, shape[2]}, "", place);
  const Tensor e = take_along_axis(p, -1, broadcast(lines, shape, "", place), place);
  return maximum(transpose(e, {1, 0, 2}, place), constant_like(x, kImpossible), place);
}

Tensor lse(const Tensor& a, const Tensor& b, const Tensor& c, Place place) {
  const Tensor m = stop_gradient(maximum(maximum(a, b, place), c, place), place);
  return m + log(exp(a - m, place) + exp(b - m, place) + exp(c - m, place), place);
}

// a of the last position that counts, [batch,states]. The state has two impossible columns in front.
Tensor last_states(const Tensor& e, const Saying& saying, const Tensor& lengths, Place place) {
  const int64_t batch = e.shape()[1], states = e.shape()[2];
  const auto impossible = [&] { return broadcast(constant_like(e, kImpossible), {batch, 2}, "", place); };
  const Tensor others = broadcast(constant_like(e, kImpossible), {batch, states - 1}, "", place);
  const Tensor certain = broadcast(constant_like(e, 0), {batch, 1}, "", place);
  Tree xs{{"e", e}};
  if (lengths.defined())
    xs["t"] = Tensor::arange(static_cast<double>(e.shape()[0]), DType::i32, place).to(e.device(), place);
  const auto step = [&](const Tree& state, const Tree& x) -> ScanStep {
    const Tensor& all = state.tensor();
    const Tensor stay = slice(all, 1, {2, states + 2}, place), next = slice(all, 1, {1, states + 1}, place);
    const Tensor skip = slice(all, 1, {0, states}, place) + saying.skip;
    Tensor a = lse(stay, next, skip, place) + x["e"].tensor();
    if (lengths.defined()) a = where(less(x["t"].tensor(), column_ctc_loss(lengths, place), place), a, stay, place);
    return {concatenate({impossible(), a}, 1, place), Tree()};
  };
  const Tree end = scan(step, concatenate({impossible(), certain, others}, 1, place), xs, {}, place).state;
  return slice(end.tensor(), 1, {2, states + 2}, place);
}

// [batch]: minus the logarithms of the probabilities of the targets.
Tensor losses(const Tensor& a, const Tensor& target_lengths, bool zero_infinity, Place place) {
  const Tensor zero = constant_like(target_lengths, 0);
  const Tensor end = target_lengths * constant_like(target_lengths, 2);
  const Tensor ends = stack({end, maximum(end - constant_like(end, 1), zero, place)}, -1, place);
  const Tensor none = column_ctc_loss(equal(target_lengths, zero, place), place);
  const Tensor two = take_along_axis(a, 1, ends, place);
  const Tensor second = where(none, constant_like(a, kImpossible), slice(two, 1, {1, 2}, place), place);
  const Tensor y = logsumexp(concatenate({slice(two, 1, {0, 1}, place), second}, 1, place), 1, {}, place);
  const double never = zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  return where(less(y, constant_like(y, kImpossible / 2), place), constant_like(y, never), -y, place);
}

}  // namespace

Tensor ctc_loss(const Tensor& x, const Tensor& targets, const CtcOptions& options, Place place) {
  check_ctc_loss(x, targets, options, place);
  const Tensor logits = bare(x, place), classes = cast(bare(targets, place), DType::i32, place);
  const Tensor target_lengths = counts(options.target_lengths, targets.shape()[1], classes, place);
  const Saying saying = saying_of(classes, target_lengths, logits, options.blank, place);
  const Tensor e = emissions(logits, saying.classes, place);
  const Tensor lengths = options.lengths.defined() ? counts(options.lengths, 0, classes, place) : Tensor();
  const Tensor each = losses(last_states(e, saying, lengths, place), target_lengths, options.zero_infinity, place);
  if (options.reduction == "none") return each;
  if (options.reduction == "sum") return sum(each, {}, {}, place);
  const Tensor length = cast(maximum(target_lengths, constant_like(target_lengths, 1), place), x.type(), place);
  return mean(each / length, {}, {}, place);
}

void define_ctc_loss(OpTable&) {}  // no op of its own: it is a scan

}  // namespace retrace
