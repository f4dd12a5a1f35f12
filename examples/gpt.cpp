// A character-level GPT by a custom loop: model, loss, training and sampling.
//   build/examples/gpt [--text FILE] [--steps N] [--device NAME] [--quick]
// The text is a file or a folder of files; without --text, the licences that Debian keeps in
// /usr/share/common-licenses.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

constexpr int kContext = 64;
constexpr int64_t kBatch = 12, kFeatures = 128, kHeads = 4, kBlocks = 4;

nn::Layer block() {
  return nn::Sequential{
      nn::residual(nn::Sequential{nn::layer_norm(), nn::self_attention({.heads = kHeads, .causal = true})}),
      nn::residual(nn::Sequential{nn::layer_norm(), nn::linear(4 * kFeatures, {.flatten = false}), nn::gelu(),
                                  nn::linear(kFeatures, {.flatten = false})})};
}

nn::Layer gpt(int64_t vocabulary) {
  return nn::Sequential{nn::embedding(vocabulary, kFeatures), nn::position_embedding(kContext),
                        nn::repeat(kBlocks, {block()}), nn::layer_norm(),
                        nn::linear(vocabulary, {.flatten = false}, {.bias = false})};
}

struct Text {
  std::string characters;      // that occur in it
  std::vector<uint8_t> codes;  // the places of its characters there
};

// Of a file, or of the files of a folder in the order of their names.
Text read_text(const std::string& from) {
  std::set<std::filesystem::path> files{from};
  if (std::filesystem::is_directory(from)) files = {};
  if (files.empty())
    for (const auto& entry : std::filesystem::directory_iterator(from))
      if (!entry.is_symlink()) files.insert(entry.path());
  std::string all;
  for (const auto& path : files) all.append(std::istreambuf_iterator<char>(std::ifstream(path).rdbuf()), {});
  const std::set<char> distinct(all.begin(), all.end());
  Text text{{distinct.begin(), distinct.end()}, {}};
  for (const char c : all) text.codes.push_back(static_cast<uint8_t>(text.characters.find(c)));
  return text;
}

struct Options {
  std::string text = "/usr/share/common-licenses", device = "cpu";
  int64_t steps = 2000;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--quick")
      options.steps = 20, --i;
    else if ((name == "--text" || name == "--device") && !value.empty())
      (name == "--text" ? options.text : options.device) = value;
    else if (name != "--steps" || (options.steps = std::atoll(value.c_str())) < 1)
      fmt::print(stderr, "{}: gpt [--text FILE] [--steps N] [--device NAME] [--quick]\n", name), std::exit(2);
  }
  return options;
}

// `count` characters, each drawn by what `scores` says of those before it. What stands behind them in the window
// changes nothing, since the network is causal.
std::string sample(const auto& scores, const rt::Tree& parameters, const Text& text, int64_t count,
                   rt::Device& device) {
  std::string made;
  std::vector<uint8_t> codes{0};
  for (int64_t i = 0; i < count; ++i) {
    const auto known = std::min<int64_t>(kContext, std::ssize(codes));
    std::vector<uint8_t> window(codes.end() - known, codes.end());
    window.resize(kContext);
    const rt::Tensor y = scores(parameters, rt::Tensor::from<uint8_t>(window, {1, kContext}, "BT").to(device));
    const auto shares = rt::softmax(y[0][known - 1]).to_vector<float>();
    double left = rt::uniform({1}, rt::random_key(2).split(static_cast<uint64_t>(i))).number();
    size_t next = 0;
    while (next + 1 < shares.size() && (left -= shares[next]) >= 0) ++next;
    codes.push_back(static_cast<uint8_t>(next));
    made += text.characters[next];
  }
  return made;
}

int run(const Options& options) {
  const Text text = read_text(options.text);
  const int64_t characters = std::ssize(text.characters);
  const auto size = static_cast<int32_t>(text.codes.size()), training = size / 10 * 9;  // the rest tests
  if (size < 20 * kContext) return fmt::print(stderr, "gpt: --text FILE wants 2,000 characters or more\n"), 1;
  rt::Device& device = rt::find_device(options.device);
  const nn::Layer model = gpt(characters);
  rt::Tree parameters = model.initial({kContext}, rt::random_key(1).split("weights")).parameters.to(device);
  const auto scores = rt::accelerate(
      [&](const rt::Tree& p, const rt::Tensor& x) { return model.forward(x, p, {}, rt::Phase::inference).y.tensor(); });
  const auto loss = [&](const rt::Tree& p, const rt::Tensor& x, const rt::Tensor& t) {
    const rt::Tensor y = model.forward(x, p, {}, rt::Phase::train).y.tensor();
    return rt::softmax_cross_entropy(rt::reshape(y, {t.size(), characters}), rt::reshape(t, {t.size()}));
  };
  const auto step = rt::accelerate(rt::value_and_grad(loss));
  const auto test = rt::accelerate(loss);
  // Inputs, and the characters that follow each of them.
  const auto batch = [&](int32_t begin, int32_t count, rt::RandomKey key) {
    std::vector<uint8_t> x, t;
    for (const int32_t at : rt::integers({kBatch}, count - kContext - 1, key).to_vector<int32_t>()) {
      const auto first = text.codes.begin() + begin + at;
      x.insert(x.end(), first, first + kContext), t.insert(t.end(), first + 1, first + 1 + kContext);
    }
    const auto tensor = [&](const auto& codes) {
      return rt::Tensor::from<uint8_t>(codes, {kBatch, kContext}, "BT").to(device);
    };
    return std::pair{tensor(x), tensor(t)};
  };
  rt::AdamState adam;
  for (int64_t i = 0; i < options.steps; ++i) {
    const auto [x, t] = batch(0, training, rt::random_key(1).split("batch").split(static_cast<uint64_t>(i)));
    auto [value, gradients] = step(parameters, x, t);
    auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.001f});
    parameters = updated.parameters, adam = updated.state;
    if ((i + 1) % 100 == 0 || i + 1 == options.steps) fmt::print("step {:5}  loss {:.4f}\n", i + 1, value.number());
  }
  double held_out = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    const auto [x, t] = batch(training, size - training, rt::random_key(1).split("test").split(i));
    held_out += test(parameters, x, t).number() / 20;
  }
  fmt::print("loss of the last tenth {:.4f}, fingerprint {}, hits {:.1f} %\n\n{}\n", held_out,
             rt::fingerprint(parameters), step.hit_rate(), sample(scores, parameters, text, 300, device));
  return 0;
}

int main(int argc, char** argv) {
  try {
    return run(read_options(argc, argv));
  } catch (const rt::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return rt::exit_code(error.kind());
  }
}
