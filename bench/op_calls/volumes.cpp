#include "bench/op_calls/call.h"

namespace retrace::bench {
namespace {

// A list of three.
Triple triple(const Call& c, const char* name, int64_t standard) {
  if (!c.has(name)) return standard;
  const auto list = c.list(name);
  return {list.at(0), list.at(1), list.at(2)};
}

// A list of six, or "same".
VolumePadding padding(const Call& c, const char* name = "padding") {
  if (!c.has(name)) return {};
  if (c.is_text(name)) return same;
  const auto list = c.list(name);
  return {list.at(0), list.at(1), list.at(2), list.at(3), list.at(4), list.at(5)};
}

CtcOptions ctc_options(const Call& c) {
  return {.lengths = c[2],
          .target_lengths = c[3],
          .blank = c.whole("blank", 0),
          .reduction = c.text("reduction", "mean"),
          .zero_infinity = c.flag("zero_infinity")};
}

Resize2dOptions resize_options(const Call& c) {
  Resize2dOptions options{.method = c.text("method", "nearest"), .align_corners = c.flag("align_corners")};
  if (c.has("size")) options.size = c.pair("size", 1);
  if (c.has("factor")) options.factor = c.number("factor", 1);
  return options;
}

}  // namespace

void add_volumes(OpTable& table) {
  table["conv3d"] = [](const Call& c) {
    const Conv3dOptions options{.stride = triple(c, "stride", 1),
                                .padding = padding(c),
                                .dilation = triple(c, "dilation", 1),
                                .groups = c.whole("groups", 1)};
    return Results{c[2].defined() ? conv3d(c[0], c[1], c[2], options) : conv3d(c[0], c[1], options)};
  };
  table["max_pool3d"] = [](const Call& c) {
    return Results{max_pool3d(c[0], triple(c, "size", 1), {.stride = triple(c, "stride", 0), .padding = padding(c)})};
  };
  table["average_pool3d"] = [](const Call& c) {
    return Results{average_pool3d(
        c[0], triple(c, "size", 1),
        {.stride = triple(c, "stride", 0), .padding = padding(c), .count_padding = c.flag("count_padding")})};
  };
  table["global_max_pool3d"] = [](const Call& c) { return Results{global_max_pool3d(c[0])}; };
  table["global_average_pool3d"] = [](const Call& c) { return Results{global_average_pool3d(c[0])}; };
  table["resize2d"] = [](const Call& c) { return Results{resize2d(c[0], resize_options(c))}; };
  table["unfold"] = [](const Call& c) {
    return Results{
        unfold(c[0], c.axes(), c.whole("size", 1), {.step = c.whole("step", 1), .dilation = c.whole("dilation", 1)})};
  };
  table["ctc_loss"] = [](const Call& c) { return Results{ctc_loss(c[0], c[1], ctc_options(c))}; };
  table["cross_channel_norm"] = [](const Call& c) {
    return Results{
        cross_channel_norm(c[0], c.whole("size", 5),
                           {.alpha = c.number("alpha", 1e-4), .beta = c.number("beta", 0.75), .k = c.number("k", 2)})};
  };
  table["transposed_conv1d"] = [](const Call& c) {
    const TransposedConv1dOptions options{.stride = c.whole("stride", 1), .cropping = c.end_padding("cropping")};
    return Results{c[2].defined() ? transposed_conv1d(c[0], c[1], c[2], options)
                                  : transposed_conv1d(c[0], c[1], options)};
  };
  table["transposed_conv3d"] = [](const Call& c) {
    const TransposedConv3dOptions options{.stride = triple(c, "stride", 1), .cropping = padding(c, "cropping")};
    return Results{c[2].defined() ? transposed_conv3d(c[0], c[1], c[2], options)
                                  : transposed_conv3d(c[0], c[1], options)};
  };
  table["adaptive_average_pool1d"] = [](const Call& c) {
    return Results{adaptive_average_pool1d(c[0], c.whole("size", 1))};
  };
  table["adaptive_max_pool1d"] = [](const Call& c) { return Results{adaptive_max_pool1d(c[0], c.whole("size", 1))}; };
  table["adaptive_average_pool3d"] = [](const Call& c) {
    return Results{adaptive_average_pool3d(c[0], triple(c, "size", 1))};
  };
  table["adaptive_max_pool3d"] = [](const Call& c) { return Results{adaptive_max_pool3d(c[0], triple(c, "size", 1))}; };
  table["rotary_embedding"] = [](const Call& c) {
    return Results{rotary_embedding(
        c[0], {.base = c.number("base", 10000), .first = c.whole("first", 0), .interleaved = c.flag("interleaved")})};
  };
}

}  // namespace retrace::bench
