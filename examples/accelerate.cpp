// The two-headed digits network (class and angle of rotation) trained by a custom loop over pure functions at three
// speeds: plain, default and accelerated. The bits are the same, the time is not.
//   build/examples/accelerate [--device NAME] [--epochs N] [--quick] [--json] [--monitor]
// On an emulated CUDA device (--device cuda with RETRACE_CUDA_EMULATION=1) a tiny case runs, and on the CPU as well.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

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
    return rt::Tree{{"weights", rt::nn::glorot_uniform_fan_out(shape, rt::nn::conv2d_fans(shape), key.split(name))},
                    {"bias", rt::Tensor::zeros({shape.back()})}};
  };
  auto linear = [&](const char* name, rt::Shape shape) {
    return rt::Tree{{"weights", rt::nn::glorot_uniform(shape, rt::nn::linear_fans(shape), key.split(name))},
                    {"bias", rt::Tensor::zeros({shape[0]})}};
  };
  auto norm = [](int64_t n) {
    return rt::Tree{{"scale", rt::Tensor::full(1, {n})}, {"offset", rt::Tensor::zeros({n})}};
  };
  return {{"conv1", conv("conv1", {5, 5, 1, 16})},          {"norm1", norm(16)},
          {"conv2", conv("conv2", {3, 3, 16, 32})},         {"norm2", norm(32)},
          {"conv3", conv("conv3", {3, 3, 32, 32})},         {"norm3", norm(32)},
          {"conv_skip", conv("conv_skip", {1, 1, 16, 32})}, {"norm_skip", norm(32)},
          {"class", linear("class", {10, 6272})},           {"angle", linear("angle", {1, 6272})}};
}

rt::Tree initial_state() {
  auto norm = [](int64_t n) {
    return rt::Tree{{"mean", rt::Tensor::zeros({n})}, {"variance", rt::Tensor::full(1, {n})}};
  };
  return {{"norm1", norm(16)}, {"norm2", norm(32)}, {"norm3", norm(32)}, {"norm_skip", norm(32)}};
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Options {
  int epochs = 20;
  int64_t mini_batch_size = 32, samples = 5000;  // of each of both sets
  std::string device = "cpu";
  bool json = false, watch = false;
  rt::TrainingProgressMonitor* monitor = nullptr;  // null: nobody watches
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--json") {
      options.json = true;
    } else if (name == "--monitor") {
      options.watch = true;
    } else if (name == "--quick") {
      options.epochs = 1;
    } else if (name == "--device" && !value.empty()) {
      options.device = value, ++i;
    } else if (name == "--epochs" &&
               std::from_chars(value.data(), value.data() + value.size(), options.epochs).ec == std::errc() &&
               options.epochs > 0) {
      ++i;
    } else {
      fmt::print(stderr,
                 "{} is not understood: accelerate [--device NAME] [--epochs N] [--quick] [--json] [--monitor]\n",
                 name);
      std::exit(2);
    }
  }
  return options;
}

struct Training {
  double seconds;
  rt::Tree parameters, state;
};

rt::MiniBatchQueue mini_batches(rt::Split split, const Options& options) {
  return rt::MiniBatchQueue(rt::datasets::digits(split, {.count = options.samples, .seed = 1}),
                            {.mini_batch_size = options.mini_batch_size,
                             .partial_mini_batch = split == rt::Split::train ? rt::Partial::discard : rt::Partial::keep,
                             .formats = {"BSSC", "B", "BC"},
                             .devices = {options.device},
                             .seed = 1});
}

// What the page shows of a step; whether a user wants the training to end.
bool tell(rt::TrainingProgressMonitor& monitor, const char* speed, int epoch, const Options& options, int64_t iteration,
          const rt::Tensor& loss) {
  if (iteration % 10 == 0) {
    monitor.record_metrics(static_cast<double>(iteration), {{fmt::format("loss/{}", speed), loss.number()}});
    monitor.update_info({{"speed", speed}, {"epoch", fmt::format("{} of {}", epoch, options.epochs)}});
    monitor.set_progress(100.0 * epoch / options.epochs);
  }
  return monitor.stop();
}

// `step` is value_and_grad(loss), accelerated or not.
Training train(const char* speed, const auto& step, const Options& options) {
  auto queue = mini_batches(rt::Split::train, options);
  rt::Device& device = rt::find_device(options.device);
  auto parameters = initial_parameters(rt::random_key(1)).to(device);
  auto state = initial_state().to(device);
  rt::AdamState adam;
  const Stopwatch watch;
  bool stopped = false;
  int64_t iteration = 0;
  for (int epoch = 1; epoch <= options.epochs && !stopped; ++epoch)
    for (queue.shuffle(); queue.has_data() && !stopped;) {
      auto [images, labels, angles] = queue.next<3>();
      auto [value, gradients, moments] = step(parameters, images, labels, angles, state);
      auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.001f});
      parameters = updated.parameters, adam = updated.state;
      state = rt::update_statistics(state, moments);
      if (options.monitor) stopped = tell(*options.monitor, speed, epoch, options, ++iteration, value);
    }
  rt::evaluate();
  device.synchronize();
  return {watch.seconds(), parameters, state};
}

struct Prediction {
  double seconds, accuracy;
};

// `network` is model, accelerated or not.
Prediction predict(const auto& network, const Training& trained, const Options& options) {
  auto queue = mini_batches(rt::Split::test, options);
  const Stopwatch watch;
  int right = 0;
  while (queue.has_data()) {
    auto [images, labels, angles] = queue.next<3>();
    const Outputs outputs = network(trained.parameters, images, trained.state, rt::Phase::inference);
    const auto found = rt::one_hot_decode(outputs.scores).to_vector<int32_t>();
    const auto wanted = labels.to_vector<int32_t>();
    for (size_t i = 0; i < wanted.size(); ++i) right += found[i] == wanted[i];
  }
  return {watch.seconds(), right / static_cast<double>(options.samples)};
}

struct Measured {
  const char* speed;
  Training training;
  Prediction prediction;
};

Measured measure(const char* speed, const auto& step, const auto& network, const Options& options) {
  const auto trained = train(speed, step, options);
  return {speed, trained, predict(network, trained, options)};
}

// `here` is the fingerprint of the same case on the CPU, "" where it was not run.
void print_json(const Measured (&all)[3], const std::string& device, const std::string& here, double train_hit_rate,
                double predict_hit_rate) {
  std::string text = fmt::format("{{\"device\":\"{}\",", device);
  if (!here.empty()) text += fmt::format("\"fingerprint_cpu\":\"{}\",", here);
  for (const auto& [speed, training, prediction] : all)
    text += fmt::format("\"train_{0}_s\":{1},\"predict_{0}_s\":{2},\"fingerprint_{0}\":\"{3}\",", speed,
                        training.seconds, prediction.seconds, rt::fingerprint(training.parameters));
  fmt::print("{}\"train_hit_rate\":{:.4f},\"predict_hit_rate\":{:.4f},\"accuracy\":{}}}\n", text, train_hit_rate,
             predict_hit_rate, all[2].prediction.accuracy);
}

void print_charts(const Measured (&all)[3], const std::filesystem::path& png) {
  rt::BarChart training{"training", "s", {}}, prediction{"prediction", "s", {}};
  for (const auto& measured : all) {
    training.bars.push_back({measured.speed, measured.training.seconds});
    prediction.bars.push_back({measured.speed, measured.prediction.seconds});
  }
  fmt::print("{}\n{}\n", rt::bar_text(training), rt::bar_text(prediction));
  const auto problem = rt::write_bar_charts(png, {training, prediction});
  fmt::print("{}\n", problem.empty() ? "charts: " + png.string() : "no picture: " + problem);
}

int run(Options options, const char* program) {
  rt::Device& device = rt::find_device(options.device);
  if (device.is_emulated()) {
    options.epochs = 1, options.mini_batch_size = 4, options.samples = 8;
    fmt::print(stderr, "an emulated device: a tiny case ({} samples, 1 epoch)\n", options.samples);
  }
  std::optional<rt::TrainingProgressMonitor> monitor;
  if (options.watch) {
    options.monitor = &monitor.emplace(rt::ProgressMonitorOptions{.name = "accelerate"});
    monitor->group("loss", {"loss/plain", "loss/default", "loss/accelerated", "loss/cpu"});
    monitor->set_log_scale("loss");
    fmt::print(stderr, "live page: {}\n", monitor->url());
  }
  const auto step = rt::value_and_grad(loss);
  const auto fast_step = rt::accelerate(step);
  const auto fast_model = rt::accelerate(model);

  rt::set_plan_cache_enabled(false);  // every step is recorded and planned anew
  const auto plain = measure("plain", step, model, options);
  rt::set_plan_cache_enabled(true);  // every step is recorded, and its plan is found
  const auto usual = measure("default", step, model, options);
  // A step is recorded and planned once, then replayed.
  const auto accelerated = measure("accelerated", fast_step, fast_model, options);

  const Measured all[] = {plain, usual, accelerated};
  const auto fingerprint = rt::fingerprint(plain.training.parameters);
  std::string here;  // on the CPU
  if (device.is_emulated()) {
    options.device = "cpu";
    here = rt::fingerprint(train("cpu", step, options).parameters);
  }
  bool equal = here.empty() || here == fingerprint;
  for (const auto& measured : all) equal &= rt::fingerprint(measured.training.parameters) == fingerprint;
  if (options.json) {
    print_json(all, device.name(), here, fast_step.hit_rate(), fast_model.hit_rate());
  } else {
    print_charts(all, std::filesystem::path(program).concat(".png"));
    fmt::print("training: {} calls, hit rate {:.4f} %\n", fast_step.calls(), fast_step.hit_rate());
    fmt::print("prediction: {} calls, hit rate {:.4f} %\n", fast_model.calls(), fast_model.hit_rate());
    fmt::print("accuracy {:.4f}, fingerprint {} {}\n", accelerated.prediction.accuracy, fingerprint,
               equal ? "at all three speeds" : "differs: please report it");
  }
  return equal ? 0 : 1;
}

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  try {
    return run(options, argv[0]);
  } catch (const rt::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return rt::exit_code(error.kind());
  }
}
