#include "bench/op_calls/call.h"

namespace retrace::bench {
namespace {

void add_products(OpTable& table) {
  table["matmul"] = [](const Call& c) {
    return Results{matmul(c[0], c[1], {.transpose_a = c.flag("transpose_a"), .transpose_b = c.flag("transpose_b")})};
  };
  table["einsum"] = [](const Call& c) { return Results{einsum(c.text("equation", ""), c.tensors())}; };
  table["linear"] = [](const Call& c) {
    const LinearOptions options{.flatten = c.flag("flatten")};
    return Results{c[2].defined() ? linear(c[0], c[1], c[2], options) : linear(c[0], c[1], options)};
  };
  table["attention"] = [](const Call& c) {
    AttentionOptions options{.causal = c.flag("causal")};
    if (c.has("scale")) options.scale = c.number("scale", 1);
    return Results{c[3].defined() ? attention(c[0], c[1], c[2], c[3], options) : attention(c[0], c[1], c[2], options)};
  };
}

void add_convolutions(OpTable& table) {
  table["conv1d"] = [](const Call& c) {
    const Conv1dOptions options{.stride = c.whole("stride", 1),
                                .padding = c.end_padding("padding"),
                                .dilation = c.whole("dilation", 1),
                                .groups = c.whole("groups", 1)};
    return Results{c[2].defined() ? conv1d(c[0], c[1], c[2], options) : conv1d(c[0], c[1], options)};
  };
  table["conv2d"] = [](const Call& c) {
    const Conv2dOptions options{.stride = c.pair("stride", 1),
                                .padding = c.padding("padding"),
                                .dilation = c.pair("dilation", 1),
                                .groups = c.whole("groups", 1)};
    return Results{c[2].defined() ? conv2d(c[0], c[1], c[2], options) : conv2d(c[0], c[1], options)};
  };
  table["transposed_conv2d"] = [](const Call& c) {
    const TransposedConv2dOptions options{.stride = c.pair("stride", 1), .cropping = c.padding("cropping")};
    return Results{c[2].defined() ? transposed_conv2d(c[0], c[1], c[2], options)
                                  : transposed_conv2d(c[0], c[1], options)};
  };
}

void add_pools(OpTable& table) {
  const auto stride = [](const Call& c) { return c.has("stride") ? PoolStride(c.pair("stride", 1)) : PoolStride(); };
  table["max_pool1d"] = [](const Call& c) {
    return Results{
        max_pool1d(c[0], c.whole("size", 1), {.stride = c.whole("stride", 0), .padding = c.end_padding("padding")})};
  };
  table["average_pool1d"] = [](const Call& c) {
    return Results{average_pool1d(c[0], c.whole("size", 1),
                                  {.stride = c.whole("stride", 0),
                                   .padding = c.end_padding("padding"),
                                   .count_padding = c.flag("count_padding")})};
  };
  table["max_pool2d"] = [stride](const Call& c) {
    return Results{max_pool2d(c[0], c.pair("size", 1), {.stride = stride(c), .padding = c.padding("padding")})};
  };
  table["average_pool2d"] = [stride](const Call& c) {
    return Results{average_pool2d(
        c[0], c.pair("size", 1),
        {.stride = stride(c), .padding = c.padding("padding"), .count_padding = c.flag("count_padding")})};
  };
  table["global_max_pool1d"] = [](const Call& c) { return Results{global_max_pool1d(c[0])}; };
  table["global_max_pool2d"] = [](const Call& c) { return Results{global_max_pool2d(c[0])}; };
  table["global_average_pool1d"] = [](const Call& c) { return Results{global_average_pool1d(c[0])}; };
  table["global_average_pool2d"] = [](const Call& c) { return Results{global_average_pool2d(c[0])}; };
  table["adaptive_average_pool2d"] = [](const Call& c) {
    return Results{adaptive_average_pool2d(c[0], c.pair("size", 1))};
  };
  table["max_pool2d_with_index"] = [stride](const Call& c) {
    const auto [y, index] =
        max_pool2d_with_index(c[0], c.pair("size", 1), {.stride = stride(c), .padding = c.padding("padding")});
    return Results{y, index};
  };
  table["max_unpool2d"] = [](const Call& c) { return Results{max_unpool2d(c[0], c[1], c.pair("size", 1))}; };
  table["adaptive_max_pool2d"] = [](const Call& c) { return Results{adaptive_max_pool2d(c[0], c.pair("size", 1))}; };
}

void add_norms(OpTable& table) {
  table["batch_norm"] = [](const Call& c) {
    return Results{batch_norm(c[0], c[1], c[2], {.epsilon = c.number("epsilon", 1e-5)}).y};
  };
  table["batch_norm_inference"] = [](const Call& c) {
    return Results{batch_norm_inference(c[0], c[1], c[2], c[3], c[4], {.epsilon = c.number("epsilon", 1e-5)})};
  };
  // Of a batch x, with the running mean and variance before it.
  table["update_statistics"] = [](const Call& c) {
    const auto made =
        batch_norm(c[0], Tensor::ones(c[1].shape(), c[0].type()), Tensor::zeros(c[1].shape(), c[0].type()));
    const double decay = c.number("decay", 0.1);
    const Tree state = update_statistics({{"n", {{"mean", c[1]}, {"variance", c[2]}}}}, {{"n", made.moments}},
                                         {.mean_decay = decay, .variance_decay = decay});
    return Results{state["n"]["mean"], state["n"]["variance"]};
  };
  table["layer_norm"] = [](const Call& c) {
    return Results{layer_norm(c[0], c[1], c[2], {.epsilon = c.number("epsilon", 1e-5)})};
  };
  table["rms_norm"] = [](const Call& c) {
    return Results{rms_norm(c[0], c[1], {.epsilon = c.number("epsilon", 1e-6)})};
  };
  table["group_norm"] = [](const Call& c) {
    return Results{group_norm(c[0], c[1], c[2], c.whole("groups", 1), {.epsilon = c.number("epsilon", 1e-5)})};
  };
  table["instance_norm"] = [](const Call& c) {
    return Results{instance_norm(c[0], c[1], c[2], {.epsilon = c.number("epsilon", 1e-5)})};
  };
  table["log_softmax"] = [](const Call& c) { return Results{log_softmax(c[0], c.axes())}; };
  table["softmax"] = [](const Call& c) { return Results{softmax(c[0], c.axes())}; };
}

// The mask is the tensor behind all others; undefined ones are left out.
void add_recurrences(OpTable& table) {
  table["lstm"] = [](const Call& c) {
    const LstmResult made = lstm(c[0], {c[1], c[2], c[3]}, {c[4], c[5]}, {.mask = c[6], .reverse = c.flag("reverse")});
    return Results{made.y, made.state.h, made.state.c};
  };
  table["gru"] = [](const Call& c) {
    const GruResult made = gru(c[0], {c[1], c[2], c[3], c[4]}, c[5], {.mask = c[6], .reverse = c.flag("reverse")});
    return Results{made.y, made.h};
  };
  table["rnn"] = [](const Call& c) {
    const RnnResult made = rnn(c[0], {c[1], c[2], c[3]}, c[4], {.mask = c[5], .reverse = c.flag("reverse")});
    return Results{made.y, made.h};
  };
}

}  // namespace

void add_layers(OpTable& table) {
  add_products(table);
  add_convolutions(table);
  add_pools(table);
  add_norms(table);
  add_recurrences(table);
}

}  // namespace retrace::bench
