#include "retrace/ops/rotary_embedding/rotary_embedding.h"

#include <cmath>

#include "retrace/base/double_math.h"
#include "retrace/base/fp_environment.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

constexpr int64_t kMostPosition = int64_t{1} << 30;

struct Turns {
  Tensor cosine, sine;  // [length,features / 2]
};

Turns turns_of(const Tensor& x, const RotaryEmbeddingOptions& options, Place place) {
  const FloatingPointScope floating_point;
  const int64_t length = x.shape()[x.rank() - 2], pairs = x.shape().back() / 2;
  std::vector<double> rates, cosines, sines;
  for (int64_t i = 0; i < pairs; ++i)
    rates.push_back(double_math::pow(options.base, -static_cast<double>(i) / static_cast<double>(pairs)));
  cosines.reserve(static_cast<size_t>(length * pairs)), sines.reserve(static_cast<size_t>(length * pairs));
  for (int64_t p = 0; p < length; ++p)
    for (const double rate : rates) {
      const double angle = static_cast<double>(options.first + p) * rate;
      cosines.push_back(double_math::cos(angle)), sines.push_back(double_math::sin(angle));
    }
  const auto table = [&](const std::vector<double>& numbers) {
    const Shape shape{length, pairs};
    if (x.type() == DType::f64) return Tensor::from(numbers, shape, "", place).to(x.device(), place);
    return Tensor::from(std::vector<float>(numbers.begin(), numbers.end()), shape, "", place).to(x.device(), place);
  };
  return {table(cosines), table(sines)};
}

void check_rotary_embedding(const Tensor& x, const RotaryEmbeddingOptions& options, Place place) {
  check_defined("rotary_embedding", x, place);
  const auto refuse = [&](const std::string& message, const std::string& expected) {
    throw Error(ErrorKind::usage, 435, "rotary_embedding: " + message)
        .where(place)
        .got("x " + x.spec().text())
        .expected(expected);
  };
  const int rank = x.rank(place);
  const bool labelled = x.labels().empty() || (rank >= 2 && x.labels()[static_cast<size_t>(rank - 2)] == 'T');
  if (rank < 2 || !is_float(x.type()) || !labelled)
    refuse("x is no sequence", "floats [..,length,features], unlabelled or with T before the last axis");
  if (x.shape().back() % 2 != 0)
    refuse(fmt::format("{} features are no pairs", x.shape().back()), "an even number of features");
  if (!std::isfinite(options.base) || options.base <= 0)
    refuse(fmt::format("the base is {}", options.base), "a finite number above 0");
  const int64_t length = x.shape()[rank - 2];
  if (options.first < 0 || options.first > kMostPosition || length > kMostPosition - options.first)
    refuse(fmt::format("{} positions from {} on", length, options.first), "positions from 0 to 2^30");
}

std::vector<TensorSpec> infer_rotary_embedding(const InferCall& call) {
  check_float(call, 0, "x");
  check_same_type(call, 1, "cosine");
  check_same_type(call, 2, "sine");
  const TensorSpec& x = call.inputs[0];
  const int rank = x.shape.rank();
  const bool fits = rank >= 2 && x.shape.back() % 2 == 0;
  const Shape table = fits ? Shape{x.shape[rank - 2], x.shape.back() / 2} : Shape{};
  if (!fits || call.inputs[1].shape != table || call.inputs[2].shape != table)
    op_error(call, 435, "cosine and sine do not fit x",
             fmt::format("x {}, cosine {}, sine {}", x.text(), call.inputs[1].text(), call.inputs[2].text()),
             "x [..,length,features], and one of [length,features / 2] each");
  return {x};
}

// The first or the second feature of each pair, as [..,length,features / 2].
Tensor side(const Tensor& x, bool interleaved, int64_t which, Place place) {
  Shape half = x.shape();
  const int64_t pairs = half[x.rank() - 1] /= 2;
  if (!interleaved) return slice(x, -1, {which * pairs, (which + 1) * pairs}, place);
  return reshape(slice(x, -1, {which, 2 * pairs, 2}, place), half, "", place);
}

std::vector<Tensor> lower_rotary_embedding(const LowerCall& call) {
  const Tensor &given = call.inputs[0], &cosine = call.inputs[1], &sine = call.inputs[2];
  const bool interleaved = call.attributes.integer("interleaved") != 0;
  const Tensor x = reshape(given, given.shape(), "", call.place);
  const Tensor a = side(x, interleaved, 0, call.place), b = side(x, interleaved, 1, call.place);
  const Tensor first = a * cosine - b * sine, second = b * cosine + a * sine;
  const Tensor y = interleaved ? stack({first, second}, -1, call.place) : concatenate({first, second}, -1, call.place);
  return {reshape(y, given.shape(), given.labels(), call.place)};
}

// Cosine and sine are numbers of the positions: nobody asks for theirs.
std::vector<Tensor> gradient_rotary_embedding(const GradientCall& call) {
  static const Op& op = find_op("rotary_embedding");
  return {record_one(op, call.attributes, {call.cotangents[0], call.inputs[1], -call.inputs[2]}, call.place), Tensor(),
          Tensor()};
}

}  // namespace

Tensor rotary_embedding(const Tensor& x, const RotaryEmbeddingOptions& options, Place place) {
  static const Op& op = find_op("rotary_embedding");
  check_rotary_embedding(x, options, place);
  if (is_half(x.type())) return cast(rotary_embedding(cast(x, DType::f32, place), options, place), x.type(), place);
  const auto [cosine, sine] = turns_of(x, options, place);
  return record_one(op, {{"interleaved", options.interleaved ? 1 : 0}}, {x, cosine, sine}, place);
}

void define_rotary_embedding(OpTable& table) {
  table.add({.name = "rotary_embedding",
             .inputs = 3,
             .attributes = {"interleaved"},
             .infer = infer_rotary_embedding,
             .gradient = gradient_rotary_embedding,
             .lower = lower_rotary_embedding});
}

}  // namespace retrace
