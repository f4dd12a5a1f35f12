#include "retrace/ops/attention/attention.h"

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "retrace/ops/broadcast/broadcast.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/checkpoint/checkpoint.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/logical/logical.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/op.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/softmax/softmax.h"
#include "retrace/ops/split/split.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

// Queries and keys up to which all scores are in memory at once, for the backward pass, too.
constexpr int64_t kMostWhole = 512;

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
    refuse_attention(call, "the types of q, k and v do not fit", "one type of floats");
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

// [.., heads, queries, ..] as [.., heads / group, group * queries, ..]: the heads that share one of k and v stand below
// each other. And back.
Tensor with_joined_rows(const Tensor& x, int64_t group, Place place) {
  if (group == 1) return x;
  Shape shape = x.shape();
  shape[x.rank() - 3] /= group;
  shape[x.rank() - 2] *= group;
  return reshape(x, shape, "", place);
}
Tensor with_heads(const Tensor& x, int64_t group, Place place) {
  if (group == 1) return x;
  Shape shape = x.shape();
  shape[x.rank() - 3] *= group;
  shape[x.rank() - 2] /= group;
  return reshape(x, shape, "", place);
}

// Queries as rows, those of heads that share keys below each other, cut into parts: of a part the scores are in memory,
// for the forward pass and once more for the backward pass, and the sums over queries in the gradients of k and v come
// in the blocks and the tree of the whole product.
class Parts {
 public:
  Parts(const Arguments& call, int64_t group)
      : call_(call), place_(call.place), group_(group), queries_(from_end(call.q, 2)) {
    const double scale = call.options.scale.value_or(1 / std::sqrt(static_cast<double>(from_end(call.q, 1))));
    rows_ = with_joined_rows(call.q * Operand(scale, place_), group, place_);
    mask_ = joined_mask();
  }

  Tensor whole() const { return with_heads(attend(rows_, call_.k, call_.v, 0), group_, place_); }

  Tensor by_parts() const {
    const std::vector<Tensor> parts = parts_of(rows_);
    std::vector<Tensor> results;
    add_parts(parts, 0, call_.k, call_.v, results);
    return with_heads(concatenate(results, -2, place_), group_, place_);
  }

 private:
  Tensor within(const Tensor& x, int axis, const AxisRange& range) const {
    return from_end(x, -axis) == range.end - range.begin ? x : slice(x, axis, range, place_);
  }

  // Where a mask says something for each query, it has a row for each.
  Tensor joined_mask() const {
    const Tensor& mask = call_.mask;
    if (!mask.defined() || group_ == 1) return mask;
    const bool has_heads = mask.rank() >= 3 && from_end(mask, 3) > 1;
    if (!has_heads && (mask.rank() < 2 || from_end(mask, 2) == 1)) return mask;
    Shape shape = mask.shape();
    if (mask.rank() < 3) shape = {1, shape[0], shape[1]};
    const int rank = static_cast<int>(shape.rank());
    shape[rank - 3] = from_end(call_.q, 3), shape[rank - 2] = queries_;
    return with_joined_rows(broadcast(mask, shape, "", place_), group_, place_);
  }

  // 0 to size - 1 in this shape.
  Tensor count(int64_t size, const Shape& shape) const {
    const DType type = size <= 1 << 24 ? DType::f32 : DType::i32;  // pointwise chains are of f32
    const Tensor numbers = Tensor::arange(static_cast<double>(size), type, place_).to(call_.q.device());
    return reshape(numbers, shape, "", place_);
  }

  // What rows from `begin` on see of the first keys, [n...,rows,keys] or fewer axes; undefined: all.
  Tensor seen(int64_t begin, int64_t rows, int64_t keys) const {
    const auto part = [&](const Tensor& x) { return within(x, -2, {begin, begin + rows}); };
    Tensor mask = mask_;
    if (mask.defined() && from_end(mask, 1) > 1) mask = within(mask, -1, {0, keys});
    if (mask.defined() && mask.rank() >= 2 && from_end(mask, 2) > 1) mask = part(mask);
    if (!call_.options.causal) return mask;
    Tensor queries = count(queries_, {queries_, 1});
    if (group_ > 1)
      queries = reshape(broadcast(queries, {group_, queries_, 1}, "", place_), {group_ * queries_, 1}, "", place_);
    const Tensor before = greater_equal(part(queries), count(keys, {1, keys}), place_);
    return mask.defined() ? logical_and(before, mask, place_) : before;
  }

  Tensor attend(const Tensor& rows, const Tensor& k, const Tensor& v, int64_t begin) const {
    Tensor scores = matmul(rows, k, {.transpose_b = true}, place_);
    if (const Tensor visible = seen(begin, from_end(rows, 2), from_end(k, 2)); visible.defined())
      scores = where(visible, scores, constant(-std::numeric_limits<double>::infinity(), rows.type()), place_);
    return matmul(softmax(scores, -1, place_), v, {}, place_);
  }

  // Blocks of rows; the last one may be shorter.
  std::vector<Tensor> parts_of(const Tensor& rows) const {
    const int64_t count = from_end(rows, 2), rest = count % kBlock;
    if (rest == 0) return split(rows, -2, count / kBlock, place_);
    const std::vector<Tensor> both = split(rows, -2, {count - rest, rest}, place_);
    std::vector<Tensor> parts = split(both[0], -2, count / kBlock, place_);
    parts.push_back(both[1]);
    return parts;
  }

  // How many of the first keys these rows see. The others have a share of 0, and would add +0 to every sum.
  int64_t keys_of(int64_t begin, int64_t end) const {
    const bool is_one_head = begin / queries_ == (end - 1) / queries_;
    return call_.options.causal && is_one_head ? (end - 1) % queries_ + 1 : from_end(call_.k, 2);
  }

  // Gradients of k and v are added in pairs, as the tree adds, as soon as both are there: each pair reads values of its
  // own.
  void add_parts(std::span<const Tensor> parts, int64_t begin, const Tensor& k, const Tensor& v,
                 std::vector<Tensor>& results) const {
    if (parts.size() == 1) {
      const AxisRange keys{0, keys_of(begin, begin + from_end(parts[0], 2))};
      const auto part = [&](const Tree& x) -> Tree {
        return attend(x["q"], within(x["k"], -2, keys), within(x["v"], -2, keys), begin);
      };
      results.push_back(checkpoint(part, {{"q", parts[0]}, {"k", k}, {"v", v}}, place_).tensor());
      return;
    }
    const size_t first = std::bit_floor(parts.size() - 1);
    const int64_t middle = begin + static_cast<int64_t>(first) * kBlock;
    add_parts(parts.first(first), begin, recomputed(k, place_), recomputed(v, place_), results);
    add_parts(parts.subspan(first), middle, recomputed(k, place_), recomputed(v, place_), results);
  }

  static constexpr int64_t kBlock = 256;  // of the sums of a product in f32: docs/numerics.md 2

  const Arguments& call_;
  const Place place_;
  const int64_t group_, queries_;
  Tensor rows_, mask_;
};

// f64 has no blocks; where k or v is shared along other axes than that of heads, their gradients are added up along
// these at the end.
bool can_part(const Arguments& call, int64_t group) {
  const auto [q, k, v] = std::tie(call.q, call.k, call.v);
  if (q.type() != DType::f32) return false;
  for (int axis = 0; axis < q.rank() - 2; ++axis) {
    const int64_t shared = axis == q.rank() - 3 ? group : 1;
    if (k.shape()[axis] * shared != q.shape()[axis] || v.shape()[axis] * shared != q.shape()[axis]) return false;
  }
  return true;
}

Tensor compute(const Arguments& call) {
  check_types(call);
  check_sizes_attention(call);
  if (const DType type = call.q.type(); is_half(type)) {
    const auto wide = [&](const Tensor& x) { return cast(x, DType::f32, call.place); };
    const Tensor y = compute({wide(call.q), wide(call.k), wide(call.v), call.mask, call.options, call.place});
    return cast(y, type, call.place);
  }
  const int64_t group = group_of(call);
  const Parts parts(call, group);
  const bool is_long = from_end(call.q, 2) > kMostWhole && from_end(call.k, 2) > kMostWhole;
  return is_long && can_part(call, group) ? parts.by_parts() : parts.whole();
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
