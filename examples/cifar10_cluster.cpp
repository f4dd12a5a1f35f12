// A convolutional network trained on folders of images by a pool of workers: each mini-batch is cut into four shards,
// and the workers share them. The number of workers changes the time and no bit.
//   build/examples/cifar10_cluster [--data DIR] [--workers N] [--profile NAME] [--epochs N] [--quick] [--json]
// DIR has train/CLASS/*.jpg and test/CLASS/*.jpg (docs/data.md). Without it the built-in digits, made colour images,
// stand in for the photographs. DIR may be "s3://BUCKET/PATH". Under mpirun -n N (or srun) the workers are its ranks.
// Of a profile or of ranks there may be more workers than shards: those read and move images for the others.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include "retrace/retrace.h"

namespace rt = retrace;
namespace nn = rt::nn;

constexpr int kShards = 4;  // part of the training: how a mini-batch is cut, whoever computes the parts
constexpr uint64_t kSeed = 1;

struct Options {
  std::string data, profile;
  int workers = 0, epochs = 50;  // 0 workers: as many as there are
  int64_t mini_batch_size = 256 * kShards;
  bool quick = false, json = false;
};

[[noreturn]] void refuse(const std::string& argument) {
  fmt::print(stderr,
             "{} is not understood: cifar10_cluster [--data DIR] [--workers N] [--profile NAME] [--epochs N] "
             "[--quick] [--json]\n",
             argument);
  std::exit(2);
}

int number(const std::string& name, const std::string& value, int most) {
  int read = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (failure != std::errc() || end != value.data() + value.size() || read < 1 || read > most)
    refuse(name + " " + value);
  return read;
}

Options read_options(int argc, char** argv) {
  Options options;
  bool epochs = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--json") {
      options.json = true;
    } else if (name == "--quick") {
      options.quick = true, options.mini_batch_size = 64;
    } else if (name == "--data" && !value.empty()) {
      options.data = value, ++i;
    } else if (name == "--profile" && !value.empty()) {
      options.profile = value, ++i;
    } else if (name == "--workers") {
      options.workers = number(name, value, 256), ++i;
    } else if (name == "--epochs") {
      options.epochs = number(name, value, 100'000), epochs = true, ++i;
    } else {
      refuse(name);
    }
  }
  if (options.quick && !epochs) options.epochs = 1;
  return options;
}

// Images [32,32,3] and labels, and the names of the classes.
struct Data {
  rt::Datastore train, test;
  std::vector<rt::LabelCount> counts;  // of the training set
};

rt::Datastore first(const rt::Datastore& store, int64_t count) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < std::min(count, store.size()); ++i) indices.push_back(i);
  return store.subset(indices);
}

Data photographs(const Options& options) {
  rt::ImageDatastoreOptions images{
      .labels = rt::LabelsFrom::folder_names, .height = 32, .width = 32, .channels = 3, .scale_bytes = true};
  const rt::ImageDatastore train = rt::image_datastore(options.data + "/train", images);
  images.class_names = train.class_names();
  const rt::ImageDatastore test = rt::image_datastore(options.data + "/test", images);
  if (!options.quick) return {train, test, train.count_each_label()};
  return {first(train.shuffle(kSeed), 256), first(test.shuffle(kSeed), 128), train.count_each_label()};
}

Data colour_digits(const Options& options) {
  const auto colour = [](const rt::Datastore& digits) {
    const rt::Datastore larger =
        rt::named_transform(digits, "resize", {{"resize_height", int64_t{32}}, {"resize_width", int64_t{32}}});
    return rt::named_transform(larger, "to-rgb");
  };
  const int64_t train = options.quick ? 256 : 5000, test = options.quick ? 128 : 1000;
  return {colour(rt::datasets::digits(rt::Split::train, {.count = train, .seed = kSeed})),
          colour(rt::datasets::digits(rt::Split::test, {.count = test, .seed = kSeed})),
          {}};
}

// Three stages of four convolutions: 677,610 learnables for ten classes.
nn::Layer network(int64_t classes) {
  const auto stage = [](int64_t filters) {
    return nn::repeat(4, {nn::conv2d(3, filters, {.padding = rt::same}), nn::batch_norm(), nn::relu()});
  };
  return nn::Sequential{nn::image_input({32, 32, 3}, {.normalization = nn::Normalization::zerocenter}),
                        stage(32),
                        nn::max_pool2d(2, {.stride = 2}),
                        stage(64),
                        nn::max_pool2d(2, {.stride = 2}),
                        stage(128),
                        nn::average_pool2d(8),
                        nn::linear(classes),
                        nn::softmax()};
}

rt::TrainedNetwork train(const Data& data, const Options& options, rt::Pool& pool, rt::Monitor* monitor) {
  const int64_t classes = data.counts.empty() ? 10 : static_cast<int64_t>(data.counts.size());
  const rt::Datastore moved =
      rt::augment(data.train, {.reflect_x = true, .translate_x = {-4, 4}, .translate_y = {-4, 4}, .seed = kSeed});
  return rt::train_network(moved, network(classes), "cross-entropy",
                           {.training = {.solver = "sgdm",
                                         .max_epochs = options.epochs,
                                         .mini_batch_size = options.mini_batch_size,
                                         .shards = kShards,
                                         .initial_learn_rate = 0.1 * static_cast<double>(options.mini_batch_size) / 256,
                                         .schedule = "piecewise",
                                         .l2_regularization = 1e-10,
                                         .shuffle = "every-epoch",
                                         .partial_mini_batch = "discard",
                                         .options = {{"drop_period", int64_t{45}}, {"drop_factor", 0.1}}},
                            .validation_data = data.test,
                            .seed = kSeed,
                            .workers = 0,
                            .pool = &pool,
                            .monitor = monitor});
}

// The part of the test images whose highest score is that of their class.
double accuracy(const nn::Network& network, const rt::Datastore& test, int64_t mini_batch_size) {
  rt::MiniBatchQueue queue(test, {.mini_batch_size = mini_batch_size, .formats = {"BSSC", "B"}, .outputs = 2});
  double right = 0;
  while (queue.has_data()) {
    const auto [images, labels] = queue.next<2>();
    const rt::Tensor guesses = rt::one_hot_decode(network.predict(images).tensor());
    right += rt::sum(rt::cast(rt::equal(guesses, labels), rt::DType::f32)).number();
  }
  return right / static_cast<double>(test.size());
}

// Those of a cluster profile, or the ranks of a launcher, or threads of this process.
rt::Pool make_pool(const Options& options) {
  if (!options.profile.empty()) return rt::Pool::from_profile(options.profile, options.workers);
  rt::Pool pool = rt::Pool::from_environment();
  if (pool.size() > 1) return pool;
  return rt::Pool::local(options.workers > 0 ? options.workers : std::min(kShards, rt::thread_count()),
                         {.fewer = true});
}

int run(const Options& options) {
  rt::Pool pool = make_pool(options);
  const bool speaks = pool.is_first() && !options.json;
  const Data data = options.data.empty() ? colour_digits(options) : photographs(options);
  if (speaks) {
    for (const auto& [name, count] : data.counts) fmt::print("{:>12} {}\n", name, count);
    fmt::print("{} images, {} of a test; {} workers share {} shards of each {} images\n", data.train.size(),
               data.test.size(), pool.size(), kShards, options.mini_batch_size);
  }
  rt::Terminal terminal(stderr, rt::terminal_options(stderr));
  const auto begin = std::chrono::steady_clock::now();
  const auto [trained, info] = train(data, options, pool, speaks ? &terminal : nullptr);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double fraction = accuracy(trained, data.test, options.mini_batch_size);
  if (!pool.is_first()) return 0;
  if (options.json)
    fmt::print("{{\"workers\":{},\"iterations\":{},\"accuracy\":{},\"seconds\":{:.1f},\"fingerprint\":\"{}\"}}\n",
               pool.size(), info.iterations, fraction, seconds, info.fingerprint);
  else
    fmt::print("accuracy {:.4f} after {} iterations in {:.1f} s; fingerprint {}\n", fraction, info.iterations, seconds,
               info.fingerprint);
  return 0;
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
