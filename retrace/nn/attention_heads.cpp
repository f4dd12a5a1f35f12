// The part of attention layers between their inputs and their output.

#include "retrace/nn/attention_heads.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/layers/linear.h"
#include "retrace/ops/attention/attention.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/rotary_embedding/rotary_embedding.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace::nn {
namespace {

int64_t key_value_heads(const SelfAttentionOptions& options) {
  return options.key_value_heads == 0 ? options.heads : options.key_value_heads;
}

void check(const char* layer, const Tensor& x, const Tensor& memory, const SelfAttentionOptions& options, Place place) {
  const int64_t shared = key_value_heads(options);
  if (options.heads < 1 || shared < 1 || options.heads % shared != 0)
    throw Error(ErrorKind::usage, 212,
                fmt::format("{}: {} heads share {} of keys and values", layer, options.heads, shared))
        .where(place)
        .expected("1 head or more; key_value_heads divides them");
  if (x.rank() == 3 && memory.rank() == 3 && x.shape()[2] % options.heads == 0) return;
  const bool one = &x == &memory;
  throw Error(ErrorKind::usage, 213, fmt::format("{}: x does not fit {} heads", layer, options.heads))
      .where(place)
      .got(one ? fmt::format("x {}", x.spec().text())
               : fmt::format("x {}, memory {}", x.spec().text(), memory.spec().text()))
      .expected("[batch,length,features], features being a multiple of the heads");
}

// mask: which keys count, bool [batch,length]; undefined: all.
Tensor attended(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const AttentionOptions& options,
                Place place) {
  if (!mask.defined()) return attention(q, k, v, options, place);
  const Shape& shape = mask.shape();
  return attention(q, k, v, reshape(mask, {shape[0], 1, 1, shape[1]}, "", place), options, place);
}

// [batch,length,heads * depth] as [batch,heads,length,depth], and back.
Tensor with_heads(const Tensor& x, int64_t heads, Place place) {
  const Shape& shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}, "", place), {0, 2, 1, 3}, place);
}
Tensor without_heads(const Tensor& y, const Tensor& x, Place place) {
  return reshape(transpose(y, {0, 2, 1, 3}, place), x.shape(), x.labels(), place);
}

Tensor turned(const Tensor& heads, const SelfAttentionOptions& options, Place place) {
  return options.rotary ? rotary_embedding(heads, {.base = options.rotary_base}, place) : heads;
}

}  // namespace

Tensor attention_by_heads(Walk& walk, const char* layer, const Tensor& x, const Tensor& memory,
                          const SelfAttentionOptions& options, const ParameterOptions& parameters, Place place) {
  check(layer, x, memory, options, place);
  const int64_t features = x.shape()[2], depth = features / options.heads;
  const int64_t shared = key_value_heads(options);
  const auto part = [&](const char* name, int64_t outputs, const Tensor& of) {
    return linear(outputs, {.flatten = false}, parameters, place).named(name).apply(walk, of).tensor();
  };
  const Tensor q = turned(with_heads(part("query", features, x), options.heads, place), options, place);
  const Tensor k = turned(with_heads(part("key", shared * depth, memory), shared, place), options, place);
  const Tensor v = with_heads(part("value", shared * depth, memory), shared, place);
  const Tensor y = attended(q, k, v, walk.mask_of(memory), {.causal = options.causal}, place);
  return part("output", features, without_heads(y, x, place));
}

}  // namespace retrace::nn
