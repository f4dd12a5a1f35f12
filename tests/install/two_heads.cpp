// A user's program: a network with two heads, the class of a digit and its angle.
#include <retrace/retrace.h>
#include <cstdio>
namespace rt = retrace;

struct Heads {
  rt::Tensor scores, angle;
};

Heads model(const rt::Tree& p, const rt::Tensor& images) {
  auto x = rt::relu(rt::conv2d(images, p["conv"], {.stride = 2, .padding = rt::same}));
  x = rt::relu(rt::linear(x, p["hidden"]));
  return {rt::linear(x, p["class"]), rt::linear(x, p["angle"])};
}

rt::Tree weights(rt::Shape shape, int64_t outputs, rt::nn::Fans fans, rt::RandomKey key) {
  return {{"weights", rt::nn::glorot_uniform(shape, fans, key)},
          {"bias", rt::Tensor::from(std::vector<float>(size_t(outputs)), {outputs})}};
}

int main() {
  const auto key = rt::random_key(1);
  const auto linear = [&](const char* name, int64_t out, int64_t in) {
    return weights({out, in}, out, rt::nn::linear_fans({out, in}), key.split(name));
  };
  rt::Tree parameters{{"conv", weights({5, 5, 1, 8}, 8, rt::nn::conv2d_fans({5, 5, 1, 8}), key.split("conv"))},
                      {"hidden", linear("hidden", 32, 14 * 14 * 8)},
                      {"class", linear("class", 10, 32)},
                      {"angle", linear("angle", 1, 32)}};
  rt::MiniBatchQueue queue(rt::datasets::digits(rt::Split::train, {.count = 500}), {.mini_batch_size = 50});
  const auto loss = [](const rt::Tree& p, const rt::Tensor& x, const rt::Tensor& labels, const rt::Tensor& angles) {
    auto [scores, angle] = model(p, x);
    auto both =
        rt::softmax_cross_entropy(scores, rt::one_hot(labels, 10)) + 0.001f * rt::mean_squared_error(angle, angles);
    return rt::WithAux{both, rt::Tree{{"scores", scores}, {"angle", angle}}};
  };
  auto step = rt::accelerate(rt::value_and_grad(loss));
  rt::SgdmState state;
  float first = 0, last = 0;
  for (int epoch = 1; epoch <= 4; ++epoch)
    for (queue.shuffle(); queue.has_data();) {
      auto [images, labels, angles] = queue.next<3>();
      auto [value, gradients, outputs] = step(parameters, images, labels, angles);
      auto update = rt::sgdm_update(parameters, gradients, state, {.learn_rate = 0.02f});
      parameters = update.parameters;
      state = update.state;
      last = value.item<float>();
      if (first == 0) first = last;
      if (outputs["scores"].tensor().shape()[1] != 10) return 1;
    }
  std::printf("%s\n", last < 0.8f * first ? "learns" : "does not learn");
}
