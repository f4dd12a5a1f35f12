#include "bench/op_calls/call.h"

namespace retrace::bench {
namespace {

using Reduction = Tensor (*)(const Tensor&, const Axes&, const ReduceOptions&, Place);

constexpr std::pair<const char*, Reduction> kReductions[] = {
    {"all", all},
    {"any", any},
    {"argmax", argmax},
    {"argmin", argmin},
    {"first_maximum", first_maximum},
    {"logsumexp", logsumexp},
    {"max", max},
    {"mean", mean},
    {"min", min},
    {"norm", norm},
    {"prod", prod},
    {"sum", sum},
    {"variance", variance},
};

void add_reductions(OpTable& table) {
  for (const auto& [name, f] : kReductions)
    table[name] = [f = f](const Call& c) {
      return Results{f(c[0], c.axes(), {.keep = c.flag("keep")}, Place::here())};
    };
  table["moments"] = [](const Call& c) {
    const Moments made = moments(c[0], c.axes(), {.keep = c.flag("keep")});
    return Results{made.mean, made.m2};
  };
  table["cumsum"] = [](const Call& c) { return Results{cumsum(c[0], c.axes(), {.reverse = c.flag("reverse")})}; };
  table["cumprod"] = [](const Call& c) { return Results{cumprod(c[0], c.axes(), {.reverse = c.flag("reverse")})}; };
}

void add_order(OpTable& table) {
  const auto axis = [](const Call& c) { return c.has("axes") ? c.axes() : Axes(-1); };
  table["sort"] = [axis](const Call& c) {
    const Sorted made = sort(c[0], axis(c), {.descending = c.flag("descending")});
    return Results{made.values, made.indices};
  };
  table["argsort"] = [axis](const Call& c) {
    return Results{argsort(c[0], axis(c), {.descending = c.flag("descending")})};
  };
  table["top_k"] = [axis](const Call& c) {
    const Sorted made = top_k(c[0], c.whole("k", 1), axis(c));
    return Results{made.values, made.indices};
  };
}

void add_quantiles(OpTable& table) {
  table["quantile"] = [](const Call& c) {
    return Results{quantile(c[0], c.number("q", 0.5), c.axes(), {.keep = c.flag("keep")})};
  };
  table["median"] = [](const Call& c) { return Results{median(c[0], c.axes(), {.keep = c.flag("keep")})}; };
}

void add_shapes(OpTable& table) {
  table["broadcast"] = [](const Call& c) { return Results{broadcast(c[0], c.shape("shape"))}; };
  table["tile"] = [](const Call& c) { return Results{tile(c[0], c.shape("counts"))}; };
  table["repeat_interleave"] = [](const Call& c) {
    return Results{repeat_interleave(c[0], c.axes(), c.whole("count", 1))};
  };
  table["reshape"] = [](const Call& c) { return Results{reshape(c[0], c.shape("shape"))}; };
  table["flatten"] = [](const Call& c) { return Results{flatten(c[0])}; };
  table["squeeze"] = [](const Call& c) { return Results{squeeze(c[0], c.axes())}; };
  table["unsqueeze"] = [](const Call& c) { return Results{unsqueeze(c[0], c.axes())}; };
  table["transpose"] = [](const Call& c) { return Results{transpose(c[0], c.shape("permutation"))}; };
  table["flip"] = [](const Call& c) { return Results{flip(c[0], c.axes())}; };
  table["roll"] = [](const Call& c) { return Results{roll(c[0], c.axes(), c.whole("shift", 0))}; };
  table["tril"] = [](const Call& c) { return Results{tril(c[0], c.whole("diagonal", 0))}; };
  table["triu"] = [](const Call& c) { return Results{triu(c[0], c.whole("diagonal", 0))}; };
  table["pixel_shuffle"] = [](const Call& c) { return Results{pixel_shuffle(c[0], c.whole("factor", 2))}; };
  table["pixel_unshuffle"] = [](const Call& c) { return Results{pixel_unshuffle(c[0], c.whole("factor", 2))}; };
  table["diagonal"] = [](const Call& c) { return Results{diagonal(c[0], c.whole("offset", 0))}; };
  table["diag_embed"] = [](const Call& c) { return Results{diag_embed(c[0], c.whole("offset", 0))}; };
}

void add_parts(OpTable& table) {
  table["concatenate"] = [](const Call& c) { return Results{concatenate(c.tensors(), c.axes())}; };
  table["stack"] = [](const Call& c) { return Results{stack(c.tensors(), c.axes())}; };
  table["split"] = [](const Call& c) {
    return c.has("parts") ? split(c[0], c.axes(), c.whole("parts", 1)) : split(c[0], c.axes(), c.list("sizes"));
  };
  table["glu"] = [](const Call& c) { return Results{glu(c[0], c.axes())}; };
  table["unstack"] = [](const Call& c) { return unstack(c[0], c.axes()); };
  table["slice"] = [](const Call& c) {
    return Results{slice(c[0], {.begin = c.shape("begin"), .end = c.shape("end"), .step = c.shape("step")})};
  };
  table["select"] = [](const Call& c) { return Results{select(c[0], c.axes(), c.whole("index", 0))}; };
  table["pad"] = [](const Call& c) {
    return Results{pad(c[0], c.axes(),
                       {.before = c.whole("before", 0),
                        .after = c.whole("after", 0),
                        .mode = c.text("mode", "constant"),
                        .value = c.number("value", 0)})};
  };
}

void add_indices(OpTable& table) {
  table["take"] = [](const Call& c) { return Results{take(c[0], c.axes(), c[1])}; };
  table["gather_rows"] = [](const Call& c) { return Results{gather_rows(c[0], c[1])}; };
  table["scatter_rows"] = [](const Call& c) { return Results{scatter_rows(c[0], c[1], c.whole("rows", 1))}; };
  table["take_along_axis"] = [](const Call& c) { return Results{take_along_axis(c[0], c.axes(), c[1])}; };
  table["scatter_add"] = [](const Call& c) { return Results{scatter_add(c[0], c.axes(), c[1], c[2])}; };
  table["embedding"] = [](const Call& c) { return Results{embedding(c[0], c[1])}; };
  table["one_hot"] = [](const Call& c) { return Results{one_hot(c[0], c.whole("classes", 1))}; };
  table["one_hot_decode"] = [](const Call& c) { return Results{one_hot_decode(c[0])}; };
}

}  // namespace

void add_arrays(OpTable& table) {
  add_reductions(table);
  add_order(table);
  add_quantiles(table);
  add_shapes(table);
  add_parts(table);
  add_indices(table);
}

}  // namespace retrace::bench
