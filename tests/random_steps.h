#pragma once
// The steps of random programs: pointwise ops, movement, reductions, contractions, layers, losses. Each draws its
// arguments and options from the program, in statements of their own, so that every compiler draws in the same order.

#include "retrace/ops/stored_state/stored_state_op.h"
#include "tests/random_program.h"

namespace retrace {

inline constexpr RandomStep kRandomSteps[] = {
    // Pointwise; results stay of the order of one.
    {"add",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return x + p.partner(x);
     }},
    {"subtract",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return p.partner(x) - x;
     }},
    {"multiply",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return x * p.partner(x);
     }},
    {"divide",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return x / (abs(p.partner(x)) + 1.0f);
     }},
    {"multiply_add",
     [](RandomProgram& p) {
       const Tensor x = p.pick(), y = p.partner(x);
       return multiply_add(x, y, p.partner(x));
     }},
    {"scale and shift",
     [](RandomProgram& p) {
       const Tensor x = p.pick(), shifted = x - p.partner(x), scaled = shifted * p.partner(x);
       return relu(scaled + p.partner(x));
     }},
    {"where",
     [](RandomProgram& p) {
       const Tensor x = p.pick(), y = p.partner(x);
       return where(less(x, y), y, x);
     }},
    {"compare",
     [](RandomProgram& p) {
       const Tensor x = p.pick(), y = p.partner(x);
       const Tensor bits = p.random().one_in(2) ? greater_equal(x, y) : not_equal(x, y);
       p.keep_other(bits);
       return cast(bits, x.type());
     }},
    {"half",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const Tensor half = cast(x, p.random().one_in(2) ? DType::bf16 : DType::f16);
       p.keep_other(half);
       return cast(half, x.type());
     }},
    {"sum of halves",
     [](RandomProgram& p) {
       const Tensor x = p.filled(), half = cast(x, DType::bf16);
       return cast(half * sum(half) + half, x.type()) * (1.0f / static_cast<float>(x.size()));
     }},
    {"move halves",
     [](RandomProgram& p) {
       const Tensor x = p.matrix(), half = cast(x, p.random().one_in(2) ? DType::bf16 : DType::f16);
       return cast(transpose(concatenate({half, half}, 0)), x.type());
     }},
    {"relu", [](RandomProgram& p) { return relu(p.pick()); }},
    {"clipped_relu", [](RandomProgram& p) { return clipped_relu(p.pick(), 0.75f); }},
    {"abs", [](RandomProgram& p) { return abs(p.pick()); }},
    {"negate",
     [](RandomProgram& p) {
       const Tensor x = -p.pick();
       return p.random().one_in(2) ? -x : x;
     }},
    {"square", [](RandomProgram& p) { return square(p.pick()); }},
    {"exp", [](RandomProgram& p) { return exp(-abs(p.pick())); }},
    {"expm1", [](RandomProgram& p) { return expm1(-abs(p.pick())); }},
    {"log", [](RandomProgram& p) { return log(abs(p.pick()) + 0.5f); }},
    {"sqrt", [](RandomProgram& p) { return sqrt(abs(p.pick())); }},
    {"rsqrt", [](RandomProgram& p) { return rsqrt(square(p.pick()) + 1.0f); }},
    {"number", [](RandomProgram& p) { return p.pick() * 0.7f - 0.1f; }},
    {"constant",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return x * (1 + static_cast<int>(p.random().below(2))) / 4 + 0;
     }},
    {"stored_state", [](RandomProgram& p) { return stored_state(p.pick()); }},
    {"identity", [](RandomProgram& p) { return p.random().one_in(2) ? identity(p.pick()) : stop_gradient(p.pick()); }},
    {"cast",
     [](RandomProgram& p) {
       const Tensor whole = cast(p.pick() * 3.0f, DType::i32);
       p.keep_other(whole);
       return cast(whole + whole * 2, p.type());
     }},
    {"twice",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const Tensor a = square(x) + 1, b = square(x) + 1;
       return a * b;
     }},
    {"dropout",
     [](RandomProgram& p) {
       const Tensor x = p.pick(), kept = less(uniform(x.shape(), {.type = p.type()}), Tensor::full(0.5, {}, p.type()));
       return where(kept, x, Tensor::full(0, {}, p.type()));
     }},
    // Movement.
    {"broadcast",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       Shape shape{2};
       for (int64_t size : x.shape()) shape.push_back(size == 1 ? 3 : size);
       return broadcast(x, shape);
     }},
    {"reshape",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return p.random().one_in(2) ? reshape(x, {-1}) : reshape(x, x.shape());
     }},
    {"flatten", [](RandomProgram& p) { return flatten(p.image()); }},
    {"transpose",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       Shape axes;
       const auto first = p.random().below(std::max(1, x.rank()));
       for (int i = 0; i < x.rank(); ++i) axes.push_back((first + i) % x.rank());
       return transpose(x, axes);
     }},
    {"slice",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const auto begin = p.random().below(2);
       return slice(x, {.begin = {begin}, .step = {1 + p.random().below(2)}});
     }},
    {"pad",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       Shape shape = x.shape();
       if (shape.rank()) shape[0] += 2;
       return pad(x, shape, {.begin = {1}});
     }},
    {"concatenate",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return concatenate({x, relu(x), x}, -1);
     }},
    // Reductions.
    {"sum",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const auto how = p.reduction(x);
       return sum(x, how.axes, how.options) * 0.125f;
     }},
    {"mean",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const auto how = p.reduction(x);
       return mean(x, how.axes, how.options);
     }},
    {"mean square",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const auto how = p.reduction(x);
       return mean(square(x - 0.5f), how.axes, how.options);
     }},
    {"max",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const auto how = p.reduction(x);
       return max(x, how.axes, how.options);
     }},
    {"variance",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const auto how = p.reduction(x);
       return variance(x, how.axes, how.options);
     }},
    {"moments",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const auto [average, m2] = moments(x, -1, {.keep = true});
       return (x - average) / (sqrt(m2) + 1.0f);
     }},
    {"argmax",
     [](RandomProgram& p) {
       const Tensor x = p.pick(), index = argmax(x, -1);
       p.keep_other(index);
       return reshape(one_hot(index, x.shape().back()), x.shape()) * x;
     }},
    {"softmax", [](RandomProgram& p) { return softmax(p.filled()); }},
    {"gather",
     [](RandomProgram& p) {
       const Tensor x = p.matrix();
       return gather_rows(x, argmax(x, 0));
     }},
    // Contractions.
    {"matmul",
     [](RandomProgram& p) {
       const Tensor x = p.matrix();
       const int64_t columns = 1 + p.random().below(20);
       if (p.random().one_in(2)) return matmul(x, p.parameter({x.shape()[1], columns})) * 0.25f;
       return relu(matmul(p.parameter({x.shape()[0], columns}), x, {.transpose_a = true}) * 0.25f);
     }},
    {"linear",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const int64_t features = x.rank() ? x.size() / std::max<int64_t>(1, x.shape()[0]) : 1,
                     outputs = 1 + p.random().below(9);
       if (features > 4096) return linear(flatten(max(x, {1, 2})), p.parameter({outputs, x.shape().back()}));
       const Tensor weights = p.parameter({outputs, features});
       return p.random().one_in(2) ? linear(x, weights, p.parameter({outputs})) : relu(linear(x, weights));
     }},
    {"scan",
     [](RandomProgram& p) {
       const Tensor all = p.matrix();
       const int64_t steps = std::min<int64_t>(all.shape()[0], 5), columns = std::min<int64_t>(all.shape()[1], 12);
       const Tensor x = reshape(slice(all, {.begin = {0, 0}, .end = {steps, columns}}), {steps, 1, columns});
       const Tensor first = p.parameter({1, columns}), weights = p.parameter({columns, columns});
       const auto step = [&](const Tree& before, const Tree& element) -> ScanStep {
         const Tensor next = tanh(element.tensor() + matmul(before, weights) * 0.25f);
         return {next, next * element.tensor()};
       };
       const ScanResult made = scan(step, first, x, {.reverse = p.random().one_in(2)});
       return p.random().one_in(2) ? made.results.tensor() : made.state.tensor();
     }},
    {"narrow layers",
     [](RandomProgram& p) {
       const Tensor x = p.matrix();
       const Tensor weights = p.parameter({5, x.shape()[1]}), y = relu(linear(x, weights, p.parameter({5})));
       return linear(y, p.parameter({3, 5})) * 0.5f;
     }},
    {"conv2d",
     [](RandomProgram& p) {
       const Tensor x = p.image();
       const int64_t size = 1 + p.random().below(3), filters = 1 + p.random().below(6),
                     stride = 1 + p.random().below(2);
       const int groups = x.shape()[3] % 2 == 0 && filters % 2 == 0 ? 2 : 1;
       const Conv2dOptions options{.stride = stride, .padding = same, .groups = groups};
       const Tensor weights = p.parameter({size, size, x.shape()[3] / groups, filters}) * 0.5f;
       return p.random().one_in(2) ? conv2d(x, weights, p.parameter({filters}), options) : conv2d(x, weights, options);
     }},
    {"residual",
     [](RandomProgram& p) {
       const Tensor x = p.image(), weights = p.parameter({3, 3, x.shape()[3], x.shape()[3]});
       return relu(conv2d(x, weights * 0.25f, p.parameter({x.shape()[3]}), {.padding = 1}) + x);
     }},
    {"transposed_conv2d",
     [](RandomProgram& p) {
       const Tensor x = p.image();
       const Tensor weights = p.parameter({2, 2, 3, x.shape()[3]});
       return transposed_conv2d(x, weights, p.parameter({3}), {.stride = 2}) * 0.25f;
     }},
    // Layers.
    {"max_pool2d",
     [](RandomProgram& p) {
       const Tensor x = p.image();
       return max_pool2d(x, 2, {.stride = 1 + p.random().below(2)});
     }},
    {"relu pool",
     [](RandomProgram& p) {
       const Tensor y = relu(p.image());
       return max_pool2d(y, 2, {.stride = 1 + p.random().below(2)});
     }},
    {"average_pool2d", [](RandomProgram& p) { return average_pool2d(p.image(), 2, {.stride = 2, .padding = same}); }},
    {"batch_norm",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const Tensor scale = p.parameter({x.shape().back()});
       return batch_norm(x, scale, p.parameter({x.shape().back()})).y;
     }},
    {"norm of inference",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       const Shape channels{x.shape().back()};
       const Tensor scale = p.parameter(channels), offset = p.parameter(channels), average = p.parameter(channels);
       return batch_norm_inference(x, scale, offset, average, square(p.parameter(channels)) + 0.5f);
     }},
    {"conv norm relu",
     [](RandomProgram& p) {
       const Tensor x = p.image(), y = conv2d(x, p.parameter({3, 3, x.shape()[3], 4}), {.padding = same});
       const Tensor scale = p.parameter({4});
       return relu(batch_norm(y, scale, p.parameter({4})).y);
     }},
    {"softmax_cross_entropy",
     [](RandomProgram& p) {
       const Tensor x = p.filled();
       return softmax_cross_entropy(x, softmax(stop_gradient(x)));
     }},
    {"cross_entropy",
     [](RandomProgram& p) {
       const Tensor x = softmax(p.filled());
       return cross_entropy(x, stop_gradient(x));
     }},
    {"half_mean_squared_error",
     [](RandomProgram& p) {
       const Tensor x = p.pick();
       return half_mean_squared_error(x, relu(x));
     }},
};

inline std::span<const RandomStep> random_steps() { return kRandomSteps; }

}  // namespace retrace
