#include "retrace/ops/cross_channel_norm/cross_channel_norm.h"

#include <cmath>

#include "retrace/ops/average_pool1d/average_pool1d.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/pow/pow.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

constexpr int64_t kMostChannelWindow = 65'536;

void check_cross_channel_norm(const Tensor& x, int64_t size, const CrossChannelNormOptions& options, Place place) {
  check_defined("cross_channel_norm", x, place);
  const auto refuse = [&](const std::string& message, const std::string& expected) {
    throw Error(ErrorKind::usage, 436, "cross_channel_norm: " + message)
        .where(place)
        .got("x " + x.spec().text())
        .expected(expected);
  };
  const int rank = x.rank(place);
  const bool labelled = x.labels().empty() || x.labels().back() == 'C';
  if (rank < 2 || !is_float(x.type()) || !labelled || x.shape().back() == 0)
    refuse("x has no channels", "f32 or f64 [batch,..,channels], unlabelled or with C as its last axis");
  if (size < 1 || size > kMostChannelWindow)
    refuse(fmt::format("a window of {} channels", size), fmt::format("1 to {}", kMostChannelWindow));
  for (const auto& [name, value] : {std::pair("alpha", options.alpha), {"beta", options.beta}})
    if (!std::isfinite(value) || value < 0) refuse(fmt::format("{} is {}", name, value), "a finite number from 0 on");
  if (!std::isfinite(options.k) || options.k <= 0) refuse(fmt::format("k is {}", options.k), "a finite number above 0");
}

}  // namespace

Tensor cross_channel_norm(const Tensor& x, int64_t size, const CrossChannelNormOptions& options, Place place) {
  check_cross_channel_norm(x, size, options, place);
  const int64_t channels = x.shape().back(), rows = x.shape().count(0, x.rank() - 1);
  const Tensor squares = reshape(multiply(x, x, place), {rows, channels, 1}, "", place);
  const Tensor mean =
      average_pool1d(squares, size, {.stride = 1, .padding = {size / 2, (size - 1) / 2}, .count_padding = true}, place);
  const Tensor base = mean * constant_like(mean, options.alpha) + constant_like(mean, options.k);
  const Tensor divisor = pow(base, constant_like(base, options.beta), place);
  return divide(x, reshape(divisor, x.shape(), x.labels(), place), place);
}

void define_cross_channel_norm(OpTable&) {}  // no op of its own: its formula's ops

}  // namespace retrace
