#include "retrace/ops/attention/attention.h"

#include <cmath>
#include <limits>

#include "retrace/ops/compare/compare.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/softmax/softmax.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

struct Arguments {
  const Tensor &q, &k, &v, &mask;  // mask: undefined if there is none
  const AttentionOptions& options;
  Place place;
};

[[noreturn]] void refuse_attention(const Arguments& call, const std::string& message, const std::string& expected) {
  std::string got = fmt::format("q {}, k {}, v {}", call.q.spec().text(), call.k.spec().text(), call.v.spec().text());
  if (call.mask.defined()) got += ", mask " + call.mask.spec().text();
  throw Error(ErrorKind::usage, 211, "attention: " + message).where(call.place).got(got).expected(expected);
}

int64_t from_end(const Tensor& x, int axis) { return x.shape()[x.rank() - axis]; }

void check_types(const Arguments& call) {
  for (const Tensor* x : {&call.q, &call.k, &call.v}) check_defined("attention", *x, call.place);
  if (!is_float(call.q.type()) || call.k.type() != call.q.type() || call.v.type() != call.q.type())
    refuse_attention(call, "the types of q, k and v do not fit", "one type, f32 or f64");
  if (call.mask.defined() && call.mask.type() != DType::boolean)
    refuse_attention(call, fmt::format("the mask is {}", name_of(call.mask.type())),
                     "bool, true where a query sees a key");
}

void check_sizes_attention(const Arguments& call) {
  const auto& [q, k, v, mask, options, place] = call;
  if (q.rank() < 2 || k.rank() != q.rank() || v.rank() != q.rank())
    refuse_attention(call, "q, k and v have other axes than attention takes", "2 axes or more, as many for each");
  if (from_end(q, 1) != from_end(k, 1))
    refuse_attention(call, "q and k have different depths", "equal last axes of q and k");
  if (from_end(k, 2) != from_end(v, 2)) refuse_attention(call, "k and v differ in length", "as many keys as values");
  if (options.causal && from_end(q, 2) != from_end(k, 2))
    refuse_attention(call, fmt::format("causal, with {} queries and {} keys", from_end(q, 2), from_end(k, 2)),
                     "as many keys as queries; a mask says what others see");
}

// How many heads of q share one of k and v.
int64_t group_of(const Arguments& call) {
  if (call.q.rank() < 3) return 1;
  const int64_t heads = from_end(call.q, 3), shared = from_end(call.k, 3);
  if (shared != from_end(call.v, 3) || (shared != heads && (shared == 0 || heads % shared != 0)))
    refuse_attention(call, fmt::format("{} heads of q meet {} of k and {} of v", heads, shared, from_end(call.v, 3)),
                     "as many of k as of v, a divisor of those of q");
  return shared == heads ? 1 : heads / shared;
}

// What each query sees, [n...,queries,keys] or fewer axes; undefined: all.
Tensor seen(const Arguments& call) {
  if (!call.options.causal) return call.mask;
  const int64_t queries = from_end(call.q, 2), keys = from_end(call.k, 2);
  const auto count = [&](int64_t size, const Shape& shape) {
    const Tensor numbers = Tensor::arange(static_cast<double>(size), DType::i32, call.place).to(call.q.device());
    return reshape(numbers, shape, "", call.place);
  };
  const Tensor before = greater_equal(count(queries, {queries, 1}), count(keys, {1, keys}), call.place);
  return call.mask.defined() ? logical_and(before, call.mask, call.place) : before;
}

// [.., heads, rows, ..] as [.., heads / group, group * rows, ..], and back: the heads that share one of k and v stand
// below each other.
Tensor with_joined_rows(const Tensor& x, int64_t group, Place place) {
  Shape shape = x.shape();
  shape[x.rank() - 3] /= group;
  shape[x.rank() - 2] *= group;
  return reshape(x, shape, "", place);
}
Tensor with_heads(const Tensor& x, int64_t group, Place place) {
  Shape shape = x.shape();
  shape[x.rank() - 3] *= group;
  shape[x.rank() - 2] /= group;
  return reshape(x, shape, "", place);
}

Tensor compute(const Arguments& call) {
  check_types(call);
  check_sizes_attention(call);
  const auto& [q, k, v, mask, options, place] = call;
  const int64_t group = group_of(call);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(from_end(q, 1))));
  Tensor rows = q * Operand(scale, place);
  if (group > 1) rows = with_joined_rows(rows, group, place);
  Tensor scores = matmul(rows, k, {.transpose_b = true}, place);
  if (group > 1) scores = with_heads(scores, group, place);
  if (const Tensor visible = seen(call); visible.defined())
    scores = where(visible, scores, constant(-std::numeric_limits<double>::infinity(), q.type()), place);
  Tensor shares = softmax(scores, -1, place);
  if (group > 1) shares = with_joined_rows(shares, group, place);
  const Tensor y = matmul(shares, v, {}, place);
  return group > 1 ? with_heads(y, group, place) : y;
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options, Place place) {
  const Tensor no_mask;
  return compute({q, k, v, no_mask, options, place});
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const AttentionOptions& options,
                 Place place) {
  check_defined("attention", mask, place);
  return compute({q, k, v, mask, options, place});
}

void define_attention(OpTable&) {}  // no op of its own: it is made of matmul, where and softmax

}  // namespace retrace
