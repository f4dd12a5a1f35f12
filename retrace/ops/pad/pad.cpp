#include "retrace/ops/pad/pad.h"

#include <algorithm>
#include <cmath>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/flip/flip.h"
#include "retrace/ops/op.h"

namespace retrace {
namespace {

[[noreturn]] void refuse_pad(const Tensor& x, const std::string& message, const std::string& expected, Place place,
                             const std::string& help = "") {
  Error error(ErrorKind::usage, 246, "pad: " + message);
  error.where(place).got("x " + x.spec().text()).expected(expected);
  if (!help.empty()) error.help(help);
  throw error;
}

void check_pad(const Tensor& x, const PadMargins& margins, Place place) {
  if (margins.before < 0 || margins.after < 0)
    refuse_pad(x, fmt::format("{} elements before and {} after", margins.before, margins.after), "0 or more", place,
               "slice(x, axis, {begin, end}) takes elements away");
  if (margins.mode != "constant" && margins.mode != "reflect" && margins.mode != "replicate")
    refuse_pad(x, fmt::format("there is no mode \"{}\"", margins.mode), "constant, reflect or replicate", place,
               margins.mode == "edge" ? "did you mean replicate?" : "");
  if (!can_hold(x.type(), margins.value))
    refuse_pad(x, fmt::format("the value {} does not fit the type {}", margins.value, name_of(x.type())),
               std::string(range_of(x.type())), place);
}

// Copies of an edge that the mode asks for. first: of those before x.
Tensor margin(const Tensor& x, int axis, const PadMargins& margins, bool first, Place place) {
  const int64_t n = x.shape()[axis], count = first ? margins.before : margins.after;
  Shape shape = x.shape();
  shape[axis] = count;
  if (margins.mode == "constant") return broadcast(constant_like(x, margins.value), shape, x.labels(), place);
  if (margins.mode == "replicate") {
    const AxisRange edge = first ? AxisRange{0, 1} : AxisRange{n - 1, n};
    return broadcast(slice(x, axis, edge, place), shape, x.labels(), place);
  }
  return flip(slice(x, axis, first ? AxisRange{1, count + 1} : AxisRange{n - 1 - count, n - 1}, place), axis, place);
}

Tensor padded_pad(const Tensor& x, int axis, const PadMargins& margins, Place place) {
  const int64_t n = x.shape()[axis], most = std::max(margins.before, margins.after);
  if (margins.mode == "reflect" && most >= n)
    refuse_pad(x, fmt::format("axis {} of {} elements has no {} to reflect", axis, n, most),
               "more elements than are added on one side", place);
  if (margins.mode == "replicate" && n == 0)
    refuse_pad(x, fmt::format("axis {} has no element to replicate", axis), "1 element or more", place);
  if (margins.mode == "constant" && margins.value == 0 && !std::signbit(margins.value)) {
    Shape shape = x.shape(), begin = x.shape();
    for (int i = 0; i < x.rank(); ++i) begin[i] = i == axis ? margins.before : 0;
    shape[axis] += margins.before + margins.after;
    return pad(x, shape, {.begin = begin}, place);
  }
  std::vector<Tensor> parts;
  if (margins.before > 0) parts.push_back(margin(x, axis, margins, true, place));
  parts.push_back(x);
  if (margins.after > 0) parts.push_back(margin(x, axis, margins, false, place));
  return concatenate(parts, axis, place);
}

}  // namespace

Tensor pad(const Tensor& x, const Axes& axes, const PadMargins& margins, Place place) {
  const Shape named = axes.of(x.spec(place), "pad", place);
  if (named.empty()) refuse_pad(x, "no axes are named", "one axis or more", place);
  check_pad(x, margins, place);
  if (margins.before == 0 && margins.after == 0) return x;
  Tensor y = x;
  for (const int64_t axis : named) y = padded_pad(y, static_cast<int>(axis), margins, place);
  return y;
}

void define_pad(OpTable&) {}  // the op pad is defined beside slice; these are made of it, of slice and of concatenate

}  // namespace retrace
