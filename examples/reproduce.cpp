// A denoising autoencoder trained twice in the mode fast, where the last bits of its weights depend on how the threads
// happened to run, and twice in the mode reproducible, where all of them are equal. Charts show how far the 72 weights
// of the first convolution are apart.
//   build/examples/reproduce [--data DIR] [--epochs N] [--quick] [--json]
// DIR has the four files of MNIST; by default ../shared/data/mnist if it is there, else built-in digits.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

constexpr uint64_t kSeed = 1;

struct Options {
  std::string data = std::filesystem::exists("../shared/data/mnist") ? "../shared/data/mnist" : "";
  int epochs = 5;
  int64_t digits = 10'000, mini_batch_size = 500;  // 9,500 digits are trained on: 19 iterations an epoch
  bool json = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--json") {
      options.json = true;
    } else if (name == "--quick") {
      options.epochs = 1, options.digits = 1000, options.mini_batch_size = 50;
    } else if (name == "--data" && !value.empty()) {
      options.data = value, ++i;
    } else if (name == "--epochs" &&
               std::from_chars(value.data(), value.data() + value.size(), options.epochs).ec == std::errc() &&
               options.epochs > 0) {
      ++i;
    } else {
      fmt::print(stderr, "{} is not understood: reproduce [--data DIR] [--epochs N] [--quick] [--json]\n", name);
      std::exit(2);
    }
  }
  return options;
}

// 12,609 numbers.
nn::Layer autoencoder() {
  const auto encode = [](int64_t filters) {
    return nn::Sequential{nn::conv2d(3, filters, {.padding = rt::same}), nn::relu(),
                          nn::max_pool2d(2, {.stride = 2, .padding = rt::same})};
  };
  const auto decode = [](int64_t filters) {
    return nn::Sequential{nn::transposed_conv2d(2, filters, {.stride = 2}), nn::relu()};
  };
  return nn::Sequential{encode(8),  encode(16), encode(32),       decode(32),
                        decode(16), decode(8),  nn::conv2d(1, 1), nn::clipped_relu(1)};
}

rt::Datastore digits(const Options& options) {
  if (!options.data.empty()) return rt::datasets::mnist(options.data, rt::Split::train);
  return rt::datasets::digits(rt::Split::train, {.count = options.digits, .seed = kSeed});
}

// A noisy digit and the clean one, of 32 x 32 pixels; for training both are turned by the same quarters.
rt::Datastore pairs(const rt::Datastore& digits, bool turned) {
  rt::Datastore both = rt::transform(
      digits, [](const rt::Observation& one, rt::TransformContext&) { return rt::Observation{one[0], one[0]}; },
      {.variables = 2});
  both = rt::named_transform(both, "resize", {{"resize_height", int64_t{32}}, {"resize_width", int64_t{32}}});
  if (turned) both = rt::named_transform(both, "random-quarter-turn", {}, {.seed = kSeed});
  return rt::named_transform(both, "salt-and-pepper", {{"noise_share", 0.05}}, {.seed = kSeed});
}

// 95 % of the digits to train on, and 2.5 % each for validation and test.
struct Data {
  rt::Datastore train, validation, test;
};

Data data_of(const Options& options) {
  const rt::Datastore shuffled = digits(options).shuffle(kSeed);
  const auto part = [&](int64_t first, int64_t last) {
    std::vector<int64_t> indices;
    for (int64_t i = first; i < last; ++i) indices.push_back(i);
    return shuffled.subset(indices);
  };
  const int64_t n = std::min(options.digits, shuffled.size()), train = n * 95 / 100, validation = n * 975 / 1000;
  return {pairs(part(0, train), true), pairs(part(train, validation), false), pairs(part(validation, n), false)};
}

// The seed is given to every training: starting values, order, turns and noise are the same in all of them.
rt::TrainedNetwork train(const Data& data, const Options& options) {
  return rt::train_network(data.train, autoencoder(), "mean-squared-error",
                           {.training = {.solver = "adam",
                                         .max_epochs = options.epochs,
                                         .mini_batch_size = options.mini_batch_size,
                                         .output_network = "last-iteration"},
                            .validation = {.frequency = 50, .unit = "iterations", .patience = 5},
                            .validation_data = data.validation,
                            .seed = kSeed});
}

// What two trainings made of the same.
struct Comparison {
  int64_t different = 0, learnables = 0;
  double largest = 0;
  std::vector<double> first;  // the differences of the weights of the first convolution
};

Comparison compare(const rt::Tree& a, const rt::Tree& b) {
  Comparison found;
  const auto all = rt::leaves(a), others = rt::leaves(b);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto x = all[i].second.to_vector<float>(), y = others[i].second.to_vector<float>();
    for (size_t k = 0; k < x.size(); ++k) {
      const double difference = static_cast<double>(x[k]) - static_cast<double>(y[k]);
      ++found.learnables;
      found.different += difference != 0;
      found.largest = std::max(found.largest, std::abs(difference));
      if (all[i].first == "conv2d_1/weights") found.first.push_back(difference);
    }
  }
  return found;
}

// A column for each number, above or below the axis; the tallest has four blocks.
std::string signed_bars(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  std::string text;
  for (int row = 4; row >= -4; --row) {
    text += row == 4    ? fmt::format("{:>10.1e} ", largest)
            : row == -4 ? fmt::format("{:>10.1e} ", -largest)
                        : fmt::format("{:>10} ", row == 0 ? "0" : "");
    for (const double value : values) {
      const double height = largest > 0 ? 4 * value / largest : 0;
      const bool full = row > 0 ? height > row - 1 : height < row + 1;
      text += row == 0 ? "─" : full ? "█" : " ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

// In decibels, of images between 0 and 1.
double psnr(const rt::Tensor& image, const rt::Tensor& clean) {
  return -10 * std::log10(rt::mean(rt::square(image - clean)).number());
}

struct Psnr {
  double noisy, denoised;
};

Psnr psnr_of(const nn::Network& network, const rt::Datastore& test) {
  rt::MiniBatchQueue queue(test, {.mini_batch_size = test.size(), .formats = {"BSSC", "BSSC"}});
  const auto [noisy, clean] = queue.next<2>();
  return {psnr(noisy, clean), psnr(network.predict(noisy), clean)};
}

struct Half {
  Comparison comparison;
  rt::TrainedNetwork last;
};

// Trains twice in that mode and restores the mode before.
Half train_twice(rt::Mode mode, const Data& data, const Options& options) {
  const rt::Mode before = rt::set_mode(mode);
  const auto one = train(data, options);
  auto two = train(data, options);
  rt::set_mode(before);
  return {compare(one.network.parameters, two.network.parameters), std::move(two)};
}

void print(const char* name, const Comparison& found) {
  fmt::print("{}: {} of {} learnables differ, by at most {:g}: {}\n", name, found.different, found.learnables,
             found.largest, found.different == 0 ? "equal" : "not equal");
  fmt::print("the weights of the first convolution of one training minus those of the other:\n{}\n",
             signed_bars(found.first));
}

std::string json(const Comparison& found) {
  return fmt::format("{{\"equal\":{},\"different\":{},\"learnables\":{},\"largest\":{}}}", found.different == 0,
                     found.different, found.learnables, found.largest);
}

int run(const Options& options) {
  const Data data = data_of(options);
  const Half fast = train_twice(rt::Mode::fast, data, options);
  if (!options.json) {
    fmt::print("device {}, {} threads; {} epochs, {} iterations\n\n", fast.last.info.device, rt::thread_count(),
               fast.last.info.epochs, fast.last.info.iterations);
    print("fast", fast.comparison);
    if (rt::thread_count() == 1) fmt::print("(one thread adds in one order: use two to see a difference)\n\n");
  }
  const Half reproducible = train_twice(rt::Mode::reproducible, data, options);
  const bool equal = reproducible.comparison.different == 0;
  const auto [noisy, denoised] = psnr_of(reproducible.last.network, data.test);
  const auto& info = reproducible.last.info;
  if (options.json) {
    fmt::print(
        "{{\"fast\":{},\"reproducible\":{},\"psnr_noisy\":{},\"psnr\":{},\"iterations\":{},\"device\":\"{}\","
        "\"fingerprint\":\"{}\"}}\n",
        json(fast.comparison), json(reproducible.comparison), noisy, denoised, info.iterations, info.device,
        info.fingerprint);
  } else {
    print("reproducible", reproducible.comparison);
    fmt::print("PSNR of noisy digits {:.2f} dB, of denoised ones {:.2f} dB; fingerprint {}\n", noisy, denoised,
               info.fingerprint);
    if (!equal) fmt::print("the reproducible trainings differ: please report it\n");
  }
  return equal ? 0 : 1;
}

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  try {
    return run(options);
  } catch (const rt::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return rt::exit_code(error.kind());
  }
}
