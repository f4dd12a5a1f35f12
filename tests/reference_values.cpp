// What tests/reference_check.py compares with reference/: one line for each value, its name and its fingerprint. Inputs
// are drawn by name (docs/numerics/random.md), so that both sides make the same ones.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <limits>

#include "retrace/base/elementary.h"
#include "retrace/base/mix64.h"
#include "retrace/ops/conv2d/conv2d_gradients.h"
#include "retrace/retrace.h"

namespace retrace {
namespace {

void print(const std::string& name, const Tensor& tensor) {
  std::puts(fmt::format("{} {}", name, hexadecimal(fingerprint_value(name, tensor))).c_str());
}

RandomKey key_of(const std::string& name) { return random_key(5).split(name); }

// Numbers of one call: 4u - 2.
Tensor input(const std::string& name, const Shape& shape, const std::string& labels = "") {
  return uniform(shape, key_of(name), {.labels = labels}) * 4.0f - 2.0f;
}

// y = f(inputs) and the gradients of all of them for the cotangent input(name + "/dy").
template <class F>
void print_with_gradients(const std::string& name, const std::vector<Tensor>& inputs, const F& f) {
  Tree parameters;
  for (size_t i = 0; i < inputs.size(); ++i) parameters[fmt::format("{}", i)] = inputs[i];
  const auto loss = [&](const Tree& p) {
    std::vector<Tensor> x;
    for (size_t i = 0; i < inputs.size(); ++i) x.push_back(p[fmt::format("{}", i)].tensor());
    const Tensor y = f(x);
    return WithAux{sum(y * input(name + "/dy", y.shape())), y};
  };
  const auto [value, gradients, y] = value_and_grad(loss)(parameters);
  print(name, y);
  for (size_t i = 0; i < inputs.size(); ++i)
    print(fmt::format("{}/{}", name, i), gradients[fmt::format("{}", i)].tensor());
}

constexpr int kBits = 20000;

// Every kind of number: the bits are those of mix64.
float any_float(int i) { return std::bit_cast<float>(static_cast<uint32_t>(mix64(static_cast<uint64_t>(i)))); }

template <class F>
void print_function(const std::string& name, const F& f) {
  std::vector<float> y;
  const auto near = input(name, {kBits}).to_vector<float>();
  for (int i = 0; i < kBits; ++i) y.push_back(f(any_float(i)));
  for (const float x : near) y.push_back(f(8 * x));
  print(name, Tensor::from(y, {2 * kBits}));
}

void elementary_functions() {
  print_function("exp", [](float x) { return rules::exp(x); });
  print_function("expm1", [](float x) { return rules::expm1(x); });
  print_function("log", [](float x) { return rules::log(x); });
  print_function("log1p", [](float x) { return rules::log1p(x); });
  print_function("sigmoid", [](float x) { return rules::sigmoid(x); });
  print_function("tanh", [](float x) { return rules::tanh(x); });
  print_function("softplus", [](float x) { return rules::softplus(x); });
  print_function("erf", [](float x) { return rules::erf(x); });
  print_function("sin", [](float x) { return rules::sin(x); });
  print_function("cos", [](float x) { return rules::cos(x); });
  print_function("pow", [](float x) { return rules::pow(x, 1.5f * x - 2.0f); });
}

void draws() {
  print("uniform", uniform({3, 5}, key_of("uniform")));
  print("uniform/samples", uniform({4, 7}, key_of("uniform"), {.labels = "BC"}));
  print("normal", normal({5, 9}, key_of("normal").split(uint64_t{7})));
  print("normal/samples", normal({3, 7}, key_of("normal"), {.labels = "BC"}));
  print("integers", integers({50}, 40, key_of("integers")));
  const Tensor image = reshape(input("dropout", {2, 3, 4, 5}), {2, 3, 4, 5}, "BSSC");
  print("dropout", dropout(image, 0.3, key_of("dropout")));
  print("dropout/channels", dropout(image, 0.3, key_of("dropout"), {.whole_channels = true}));

  const auto both = [](const Tensor& p, const Tensor& x) {
    const Tensor u = uniform(x.shape(), {.labels = "BC"}), z = normal(x.shape(), {.labels = "BC"});
    return WithAux<Tree>{sum(p * z), Tree{{"u", u}, {"z", z}}};
  };
  const auto call = value_and_grad(both, {.shards = 2, .seed = 9});
  const Tensor p = Tensor::scalar(1.0f), x = Tensor::zeros({5, 3}, DType::f32, "BC");
  call(p, x);
  const auto second = call(p, x);
  print("call/uniform", second.aux["u"].tensor());
  print("call/normal", second.aux["z"].tensor());

  std::vector<int32_t> numbers(100);
  for (int i = 0; i < 100; ++i) numbers[static_cast<size_t>(i)] = i;
  MiniBatchQueue queue(array_store({Tensor::from(numbers, {100})}), {.mini_batch_size = 100, .seed = 3});
  queue.shuffle();
  queue.shuffle();
  print("order", queue.next()[0]);
}

void sums() {
  for (const int n : {1, 15, 17, 255, 257, 1000, 5000}) {
    const Tensor x = input("sums", {n, 3});
    print(fmt::format("sum/{}/all", n), sum(x));
    print(fmt::format("sum/{}/column", n), sum(x, 0));
    const auto all = moments(x), column = moments(x, 0);
    print(fmt::format("moments/{}/all", n), concatenate({reshape(all.mean, {1}), reshape(all.m2, {1})}, 0));
    print(fmt::format("moments/{}/column", n), concatenate({column.mean, column.m2}, 0));
  }
  const Tensor x = input("sums", {4, 30, 5});
  print("sum/middle", sum(x, 1));
  print("sum/ends", sum(x, {0, 2}));
}

void layers() {
  const auto convolution = [](const char* name, Shape x, Shape w, Conv2dOptions options) {
    print_with_gradients(name, {input("x", x), input("w", w), input("b", {w[3]})},
                         [&](const auto& in) { return conv2d(in[0], in[1], in[2], options); });
  };
  convolution("conv2d", {2, 7, 6, 3}, {3, 3, 3, 4}, {.padding = same});
  convolution("conv2d/strides", {2, 9, 8, 2}, {5, 5, 2, 3}, {.stride = 2, .padding = same});
  convolution("conv2d/deep", {1, 4, 4, 100}, {3, 3, 100, 2}, {});
  convolution("conv2d/points", {3, 5, 5, 4}, {1, 1, 4, 6}, {.stride = 2});
  print_with_gradients("transposed_conv2d", {input("x", {2, 4, 3, 5}), input("w", {3, 3, 2, 5}), input("b", {2})},
                       [](const auto& in) { return transposed_conv2d(in[0], in[1], in[2], {.stride = 2}); });
  print_with_gradients("linear", {input("x", {40, 300}), input("w", {7, 300}), input("b", {7})},
                       [](const auto& in) { return linear(in[0], in[1], in[2]); });
  const Tensor image = input("x", {2, 6, 6, 3});
  print_with_gradients("max_pool2d", {image}, [](const auto& in) { return max_pool2d(in[0], 2, {.stride = 2}); });
  print_with_gradients("max_pool2d/overlap", {image},
                       [](const auto& in) { return max_pool2d(in[0], 3, {.stride = 2, .padding = same}); });
  print_with_gradients("average_pool2d", {image},
                       [](const auto& in) { return average_pool2d(in[0], 3, {.stride = 1}); });
  print_with_gradients("batch_norm", {input("x", {5, 6, 7, 3}), input("scale", {3}), input("offset", {3})},
                       [](const auto& in) { return batch_norm(in[0], in[1], in[2]).y; });
}

void activations_and_losses() {
  const Tensor x = input("x", {30, 10}), t = input("t", {30, 10});
  print_with_gradients("relu", {x}, [](const auto& in) { return relu(in[0]); });
  print_with_gradients("clipped_relu", {x}, [](const auto& in) { return clipped_relu(in[0], 1.0f); });
  print_with_gradients("softmax", {8 * x}, [](const auto& in) { return softmax(in[0]); });
  print_with_gradients("cross_entropy", {x}, [&](const auto& in) { return cross_entropy(in[0], t); });
  print_with_gradients("mean_squared_error", {x}, [&](const auto& in) { return mean_squared_error(in[0], t); });
  print_with_gradients("half_mean_squared_error", {x},
                       [&](const auto& in) { return half_mean_squared_error(in[0], t); });
}

void solvers() {
  const Tree start{{"a", Tree{{"weights", input("w", {50})}, {"bias", input("b", {5})}}}};
  Tree adam = start, sgdm = start;
  AdamState adam_state;
  SgdmState sgdm_state;
  for (int step = 0; step < 5; ++step) {
    const Tree gradients =
        map(start, [&](const Tensor& w) { return input(fmt::format("gradient/{}/{}", w.size(), step), w.shape()); });
    const Tree regular = l2_regularization(adam, gradients, 0.01f);
    auto made = adam_update(adam, clip_gradients(regular, 1.5f), adam_state, {.learn_rate = 0.01f});
    adam = made.parameters, adam_state = made.state;
    const Tree clipped =
        clip_gradients(clip_gradients(gradients, 4.0f, Clip::global_l2_norm), 0.5f, Clip::absolute_value);
    auto moved = sgdm_update(sgdm, clipped, sgdm_state, {.learn_rate = 0.1f});
    sgdm = moved.parameters, sgdm_state = moved.state;
  }
  print("adam", adam["a"]["weights"].tensor());
  print("adam/bias", adam["a"]["bias"].tensor());
  print("sgdm", sgdm["a"]["weights"].tensor());
}

void schedules() {
  const OptionValues options{{"warm_up_iterations", int64_t{5}}, {"drop_factor", 0.3}, {"drop_period", int64_t{2}}};
  OptionValues lengths = options;
  lengths.set("schedule_iterations", std::vector<int64_t>{4, 9});
  const LearnRate own = learn_rate(0.1, {"warm-up, linear", {{"warm_up_iterations", int64_t{5}}}});
  const LearnRate given = learn_rate(0.1, {"warm-up, piecewise, linear", lengths});
  std::vector<float> rates;
  for (int64_t i = 0; i < 30; ++i)
    for (const auto& rate : {own, given}) rates.push_back(static_cast<float>(rate({i, 30, 1 + i / 3})));
  print("schedules", Tensor::from(rates, {60}));
}

// One accumulator in place of blocks, strips and lanes.
void doubles() {
  const auto wide = [](const std::string& name, const Shape& shape) { return cast(input(name, shape), DType::f64); };
  const Tensor x = wide("x", {4, 30, 5}), y = x / 3;
  print("f64/sum", sum(y));
  print("f64/sum/column", sum(y, {0, 1}));
  print("f64/variance", variance(y, {0, 1}));
  print("f64/exp", exp(y));
  print("f64/log", log(y));
  print("f64/softmax", softmax(y));
  print("f64/matmul", matmul(wide("a", {7, 300}) / 3, wide("b", {300, 5}) / 3));
  const Tensor image = wide("image", {2, 7, 6, 3}) / 3, w = wide("w", {3, 3, 3, 4}) / 3,
               dy = wide("dy", {2, 4, 3, 4}) / 3;
  const Conv2dGeometry geometry{.stride = {2, 2}, .padding = {1, 1, 0, 1}};
  print("f64/conv2d", conv2d(image, w, {.stride = 2, .padding = same}));
  print("f64/conv2d/image", conv2d_input_gradient(dy, w, geometry, {7, 6}));
  print("f64/conv2d/weights", conv2d_filter_gradient(image, dy, geometry, {3, 3}));
}

void fingerprints() {
  print("f64", Tensor::from(std::vector<double>{1.5, -0.0, std::numeric_limits<double>::quiet_NaN(), 1e300}, {4}));
  print("i32", Tensor::from(std::vector<int32_t>{1, -1, 0, -2147483647}, {2, 2}));
  print("u8", Tensor::from(std::vector<uint8_t>{0, 255, 7}, {3}));
}

}  // namespace
}  // namespace retrace

int main() {
  retrace::elementary_functions();
  retrace::draws();
  retrace::sums();
  retrace::layers();
  retrace::activations_and_losses();
  retrace::solvers();
  retrace::schedules();
  retrace::doubles();
  retrace::fingerprints();
}
