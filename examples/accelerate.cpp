// The two-headed digits network (class and angle of rotation) trained by a custom loop over pure functions.
//   build/examples/accelerate [--quick] [--json]
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "retrace/retrace.h"

namespace rt = retrace;

struct Outputs {
  rt::Tensor scores, angle;
  rt::Tree moments;
};

Outputs model(const rt::Tree& p, const rt::Tensor& images, const rt::Tree& state, rt::Phase phase) {
  rt::Tree moments;  // of this batch; nothing is changed in place
  auto conv_norm = [&](const rt::Tensor& x, const char* conv, const char* norm, rt::Conv2dOptions how) {
    auto result = rt::batch_norm(rt::conv2d(x, p[conv], how), p[norm], state[norm], phase);
    moments[norm] = result.moments;
    return result.y;
  };
  auto x = rt::relu(conv_norm(images, "conv1", "norm1", {.padding = rt::same}));
  auto skip = conv_norm(x, "conv_skip", "norm_skip", {.stride = 2});
  x = rt::relu(conv_norm(x, "conv2", "norm2", {.stride = 2, .padding = rt::same}));
  x = rt::relu(conv_norm(x, "conv3", "norm3", {.padding = rt::same}) + skip);
  return {rt::softmax(rt::linear(x, p["class"])), rt::linear(x, p["angle"]), moments};
}

auto loss(const rt::Tree& p, const rt::Tensor& images, const rt::Tensor& labels, const rt::Tensor& angles,
          const rt::Tree& state) {
  auto [scores, angle, moments] = model(p, images, state, rt::Phase::train);
  return rt::WithAux{
      rt::cross_entropy(scores, rt::one_hot(labels, 10)) + 0.1f * rt::half_mean_squared_error(angle, angles), moments};
}

// Glorot uniform weights with the published program's fans, zero biases.
rt::Tree initial_parameters(rt::RandomKey key) {
  auto conv = [&](const char* name, rt::Shape shape) {
    return rt::Tree{{"weights", rt::nn::glorot_uniform_published(key.split(name), shape, rt::nn::conv2d_fans(shape))},
                    {"bias", rt::Tensor::zeros({shape.back()})}};
  };
  auto linear = [&](const char* name, rt::Shape shape) {
    return rt::Tree{{"weights", rt::nn::glorot_uniform(key.split(name), shape, rt::nn::linear_fans(shape))},
                    {"bias", rt::Tensor::zeros({shape[0]})}};
  };
  auto norm = [](int64_t n) {
    return rt::Tree{{"scale", rt::Tensor::full({n}, 1)}, {"offset", rt::Tensor::zeros({n})}};
  };
  return {{"conv1", conv("conv1", {5, 5, 1, 16})},          {"norm1", norm(16)},
          {"conv2", conv("conv2", {3, 3, 16, 32})},         {"norm2", norm(32)},
          {"conv3", conv("conv3", {3, 3, 32, 32})},         {"norm3", norm(32)},
          {"conv_skip", conv("conv_skip", {1, 1, 16, 32})}, {"norm_skip", norm(32)},
          {"class", linear("class", {10, 6272})},           {"angle", linear("angle", {1, 6272})}};
}

rt::Tree initial_state() {
  auto norm = [](int64_t n) {
    return rt::Tree{{"mean", rt::Tensor::zeros({n})}, {"variance", rt::Tensor::full({n}, 1)}};
  };
  return {{"norm1", norm(16)}, {"norm2", norm(32)}, {"norm3", norm(32)}, {"norm_skip", norm(32)}};
}

int main(int argc, char** argv) {
  bool quick = false, json = false;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--quick"))
      quick = true;
    else if (!std::strcmp(argv[i], "--json"))
      json = true;
    else
      return fmt::print(stderr, "unknown option {}; there are --quick and --json\n", argv[i]), 2;
  }
  const int epochs = quick ? 1 : 20;
  rt::MiniBatchQueue queue(
      rt::digits(rt::Split::train),
      {.mini_batch_size = 32, .partial = rt::Partial::discard, .formats = {"BSSC", "B", "BC"}, .seed = 1});
  auto parameters = initial_parameters(rt::random_key(1));
  auto state = initial_state();
  auto step = rt::value_and_grad(loss);
  rt::AdamState adam;
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 1; epoch <= epochs; ++epoch)
    for (queue.shuffle(); queue.has_data();) {
      auto [images, labels, angles] = queue.next<3>();
      auto [value, gradients, moments] = step(parameters, images, labels, angles, state);
      auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.001f});
      parameters = updated.parameters, adam = updated.state;
      state = rt::update_statistics(state, moments);
    }
  const double train_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  rt::MiniBatchQueue test(rt::digits(rt::Split::test), {.mini_batch_size = 32, .formats = {"BSSC", "B", "BC"}});
  int right = 0;
  while (test.has_data()) {
    auto [images, labels, angles] = test.next<3>();
    const auto found =
        rt::one_hot_decode(model(parameters, images, state, rt::Phase::inference).scores).to_vector<int32_t>();
    const auto wanted = labels.to_vector<int32_t>();
    for (size_t i = 0; i < wanted.size(); ++i) right += found[i] == wanted[i];
  }
  const double accuracy = right / 5000.0;
  const auto fingerprint = rt::fingerprint(parameters);
  if (json)
    fmt::print("{{\"train_default_s\":{:.3f},\"accuracy\":{},\"fingerprint_default\":\"{}\"}}\n", train_seconds,
               accuracy, fingerprint);
  else
    fmt::print("{} epochs in {:.1f} s, accuracy {:.4f}, fingerprint {}\n", epochs, train_seconds, accuracy,
               fingerprint);
}
