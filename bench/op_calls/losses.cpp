#include "bench/op_calls/call.h"

namespace retrace::bench {
namespace {

using Loss = Tensor (*)(const Tensor&, const Tensor&, Place);

constexpr std::pair<const char*, Loss> kLosses[] = {
    {"binary_cross_entropy", binary_cross_entropy},
    {"cross_entropy", cross_entropy},
    {"half_mean_squared_error", half_mean_squared_error},
    {"kl_divergence", kl_divergence},
    {"mean_absolute_error", mean_absolute_error},
    {"mean_squared_error", mean_squared_error},
    {"poisson_loss", poisson_loss},
};

// Logits, target, weights of classes, mask.
Tensor cross_entropy_with_options(const Call& c) {
  if (!c.flag("with_options")) return softmax_cross_entropy(c[0], c[1]);
  CrossEntropyOptions options{.label_smoothing = c.number("label_smoothing", 0), .weights = c[2], .mask = c[3]};
  if (c.has("ignore_index")) options.ignore_index = c.whole("ignore_index", 0);
  const std::string mean = c.text("mean", "");
  if (mean == "observations") options.mean = CrossEntropyMean::observations;
  if (mean == "weights") options.mean = CrossEntropyMean::weights;
  if (mean == "none") options.mean = CrossEntropyMean::none;
  return softmax_cross_entropy(c[0], c[1], options);
}

CosineOptions cosine_options(const Call& c) { return {.axis = c.axes(), .epsilon = c.number("epsilon", 1e-8)}; }

}  // namespace

void add_losses(OpTable& table) {
  for (const auto& [name, f] : kLosses)
    table[name] = [f = f](const Call& c) { return Results{f(c[0], c[1], Place::here())}; };
  table["softmax_cross_entropy"] = [](const Call& c) { return Results{cross_entropy_with_options(c)}; };
  table["huber"] = [](const Call& c) { return Results{huber(c[0], c[1], {.delta = c.number("delta", 1)})}; };
  table["gaussian_loss"] = [](const Call& c) { return Results{gaussian_loss(c[0], c[1], c[2])}; };
  table["triplet_loss"] = [](const Call& c) {
    return Results{triplet_loss(c[0], c[1], c[2], {.margin = c.number("margin", 1)})};
  };
  table["cosine_similarity"] = [](const Call& c) { return Results{cosine_similarity(c[0], c[1], cosine_options(c))}; };
  table["cosine_loss"] = [](const Call& c) { return Results{cosine_loss(c[0], c[1], cosine_options(c))}; };
}

}  // namespace retrace::bench
