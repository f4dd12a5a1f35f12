#include "retrace/nn/layers/self_attention.h"

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

void check(const Tensor& x, const SelfAttentionOptions& options, Place place) {
  const int64_t shared = key_value_heads(options);
  if (options.heads < 1 || shared < 1 || options.heads % shared != 0)
    throw Error(ErrorKind::usage, 212,
                fmt::format("self_attention: {} heads share {} of keys and values", options.heads, shared))
        .where(place)
        .expected("1 head or more; key_value_heads divides them");
  if (x.rank() == 3 && x.shape()[2] % options.heads == 0) return;
  throw Error(ErrorKind::usage, 213, fmt::format("self_attention: x does not fit {} heads", options.heads))
      .where(place)
      .got(fmt::format("x {}", x.spec().text()))
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

OptionValues values_of_attention(const SelfAttentionOptions& options) {
  return {{"heads", options.heads},
          {"key_value_heads", options.key_value_heads},
          {"causal", options.causal},
          {"rotary", options.rotary},
          {"rotary_base", options.rotary_base}};
}

}  // namespace

Layer self_attention(const SelfAttentionOptions& options, const ParameterOptions& parameters, Place place) {
  return Layer("self_attention",
               [=](Walk& walk, const Tree& input) {
                 const Tensor& x = input.tensor();
                 check(x, options, place);
                 const int64_t features = x.shape()[2], depth = features / options.heads;
                 const int64_t shared = key_value_heads(options);
                 const auto part = [&](const char* name, int64_t outputs, const Tensor& of) {
                   return linear(outputs, {.flatten = false}, parameters, place).named(name).apply(walk, of).tensor();
                 };
                 const Tensor q = turned(with_heads(part("query", features, x), options.heads, place), options, place);
                 const Tensor k = turned(with_heads(part("key", shared * depth, x), shared, place), options, place);
                 const Tensor v = with_heads(part("value", shared * depth, x), shared, place);
                 const Tensor y = attended(q, k, v, walk.mask_of(x), {.causal = options.causal}, place);
                 return Tree(part("output", features, without_heads(y, x, place)));
               })
      .with_options(with_parameter_values(values_of_attention(options), parameters));
}

LayerKind self_attention_layer() {
  return {.name = "self_attention",
          .help = "each position is a weighted mean of what others say, learnt by heads",
          .options = with_parameter_rules(
              {count_rule("heads", "that divide the features"),
               {.name = "key_value_heads",
                .help = "heads of keys and values; 0: as many",
                .standard = int64_t{0},
                .low = 0,
                .high = 1e6},
               {.name = "causal", .help = "whether a position sees only itself and those before it", .standard = false},
               {.name = "rotary", .help = "whether queries and keys turn by their positions", .standard = false},
               {.name = "rotary_base", .help = "of the angles", .standard = 10000.0, .high = 1e12, .above_low = true}}),
          .required = {"heads"},
          .learns = true,
          .layer = [](const OptionValues& options) {
            return self_attention({.heads = options.integer("heads"),
                                   .key_value_heads = options.integer("key_value_heads"),
                                   .causal = options.truth("causal"),
                                   .rotary = options.truth("rotary"),
                                   .rotary_base = options.number("rotary_base")},
                                  parameters_of(options));
          }};
}

}  // namespace retrace::nn
