// The peaks network (2-20-5-1) trained on a whole surface at once by a custom loop over one accelerated step: loss,
// gradients and update of the parameters. On the CPU, then on the GPU from a copy of the same start: both fast, equal
// bits. Without a GPU a tiny case runs on an emulated one.
//   build/examples/cpu_and_gpu [--epochs N] [--quick] [--json]
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>

#include "retrace/retrace.h"

namespace rt = retrace;

rt::Tensor model(const rt::Tree& p, const rt::Tensor& points) {
  auto x = rt::relu(rt::linear(points, p["hidden1"]));
  x = rt::relu(rt::linear(x, p["hidden2"]));
  return rt::linear(x, p["out"]);
}

rt::Tensor loss(const rt::Tree& p, const rt::Tensor& points, const rt::Tensor& heights) {
  return rt::mean_squared_error(model(p, points), heights);
}

// All that a step changes.
struct State {
  rt::Tree parameters;
  rt::AdamState adam;
};

struct Step {
  rt::Tensor loss;  // before the update
  State after;
};

Step step(const State& state, const rt::Tensor& points, const rt::Tensor& heights) {
  const auto [value, gradients] = rt::value_and_grad(loss)(state.parameters, points, heights);
  const auto updated = rt::adam_update(state.parameters, gradients, state.adam, {.learn_rate = 0.08f});
  return {value, {updated.parameters, updated.state}};
}

// Glorot uniform weights, zero biases; a solver that starts from zeros, so that the first step has the form of all
// others.
State initial_state(rt::RandomKey key) {
  auto linear = [&](const char* name, rt::Shape shape) {
    return rt::Tree{{"weights", rt::nn::glorot_uniform(shape, rt::nn::linear_fans(shape), key.split(name))},
                    {"bias", rt::Tensor::zeros({shape[0]})}};
  };
  const rt::Tree parameters{
      {"hidden1", linear("hidden1", {20, 2})}, {"hidden2", linear("hidden2", {5, 20})}, {"out", linear("out", {1, 5})}};
  const rt::Tree zeros = rt::map(parameters, [](const rt::Tensor& p) { return rt::Tensor::zeros(p.shape()); });
  return {parameters, {zeros, zeros, rt::Tensor::scalar(0)}};
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Options {
  int epochs = 2000;
  bool json = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--json") {
      options.json = true;
    } else if (name == "--quick") {
      options.epochs = 50;
    } else if (name == "--epochs" &&
               std::from_chars(value.data(), value.data() + value.size(), options.epochs).ec == std::errc() &&
               options.epochs > 0) {
      ++i;
    } else {
      fmt::print(stderr, "{} is not understood: cpu_and_gpu [--epochs N] [--quick] [--json]\n", name);
      std::exit(2);
    }
  }
  return options;
}

// All samples of a store, in its order.
std::array<rt::Tensor, 2> whole(const rt::Datastore& store) {
  return rt::MiniBatchQueue(store, {.mini_batch_size = store.size()}).next<2>();
}

struct Training {
  double transfer_seconds;    // data and start to the device
  double first_call_seconds;  // with recording and planning
  double seconds;             // of all epochs
  double loss;                // after the last one
  rt::Tree parameters;        // on the host again
};

// On a grid of side x side points.
Training train(rt::Device& device, int epochs, int side) {
  const auto [host_points, host_heights] = whole(rt::datasets::peaks(rt::Split::train, side));
  const State start = initial_state(rt::random_key(1));
  const Stopwatch transfer;
  const auto points = host_points.to(device), heights = host_heights.to(device);
  State state{start.parameters.to(device), start.adam.to(device)};
  device.synchronize();
  const double transfer_seconds = transfer.seconds();
  const auto fast_step = rt::accelerate(step);
  const Stopwatch first;
  fast_step(state, points, heights);  // recorded, planned, run once, and forgotten: the loop below begins anew
  device.synchronize();
  const double first_call_seconds = first.seconds();
  const Stopwatch watch;
  for (int epoch = 1; epoch <= epochs; ++epoch) state = fast_step(std::move(state), points, heights).after;
  device.synchronize();
  const double seconds = watch.seconds();
  return {transfer_seconds, first_call_seconds, seconds, loss(state.parameters, points, heights).number(),
          state.parameters.to("cpu")};
}

void print_surfaces(const rt::Tree& parameters, const std::filesystem::path& png) {
  constexpr int kSide = 40;
  const auto [points, heights] = whole(rt::datasets::peaks(rt::Split::train, kSide));
  const auto numbers = [](const rt::Tensor& tensor) {
    const auto values = tensor.to_vector<float>();
    return std::vector<double>(values.begin(), values.end());
  };
  const auto xy = numbers(points);
  std::vector<double> axis;  // x is y: the y of the first x
  for (int i = 0; i < kSide; ++i) axis.push_back(xy[2 * i + 1]);
  const auto problem = rt::write_surface_plots(
      png, {{"data", axis, axis, numbers(heights)}, {"network", axis, axis, numbers(model(parameters, points))}});
  fmt::print("{}\n", problem.empty() ? "surfaces: " + png.string() : "no picture: " + problem);
}

void print(const std::string& where, const Training& training, int epochs) {
  fmt::print("{}: transfers {:.2f} ms, first call {:.2f} ms, then {} epochs in {:.2f} s, {:.3f} ms each\n", where,
             training.transfer_seconds * 1e3, training.first_call_seconds * 1e3, epochs, training.seconds,
             training.seconds / epochs * 1e3);
  fmt::print("  loss {:.4f}, fingerprint {}\n", training.loss, rt::fingerprint(training.parameters));
}

std::string json_of(const std::string& where, const Training& training, int epochs) {
  return fmt::format(
      "\"{0}_transfer_seconds\":{1},\"{0}_first_call_seconds\":{2},\"{0}_seconds\":{3},"
      "\"{0}_seconds_per_epoch\":{4},\"fingerprint_{0}\":\"{5}\",",
      where, training.transfer_seconds, training.first_call_seconds, training.seconds, training.seconds / epochs,
      rt::fingerprint(training.parameters));
}

int main(int argc, char** argv) {
  constexpr int kSide = 200, kTinySide = 16, kTinyEpochs = 5;
  setenv("RETRACE_CUDA_EMULATION", "auto", 0);  // without a GPU this program emulates one
  const Options options = read_options(argc, argv);
  const Training cpu = train(rt::cpu_device(), options.epochs, kSide);
  std::string json =
      fmt::format("\"epochs\":{},{}\"final_loss\":{},", options.epochs, json_of("cpu", cpu, options.epochs), cpu.loss);
  if (!options.json) print("CPU", cpu, options.epochs);

  bool equal = true;
  std::string fingerprints = fmt::format("\"cpu\":\"{}\"", rt::fingerprint(cpu.parameters));
  if (!rt::can_use_gpu()) {
    fmt::print(stderr, "only the CPU is trained: {}\n", rt::cuda_problem());
  } else if (rt::gpus()[0]->is_emulated()) {
    fmt::print(stderr, "no GPU here: a tiny case ({0} x {0} points, {1} epochs) on an emulated one\n", kTinySide,
               kTinyEpochs);
    const auto here = rt::fingerprint(train(rt::cpu_device(), kTinyEpochs, kTinySide).parameters);
    const auto there = rt::fingerprint(train(*rt::gpus()[0], kTinyEpochs, kTinySide).parameters);
    equal = here == there;
    fingerprints += fmt::format(",\"cpu-tiny\":\"{}\",\"cuda-emulated\":\"{}\"", here, there);
    if (!options.json) fmt::print("tiny case: fingerprint {} on the CPU, {} on the emulated device\n", here, there);
  } else {
    const Training gpu = train(*rt::gpus()[0], options.epochs, kSide);
    equal = rt::fingerprint(gpu.parameters) == rt::fingerprint(cpu.parameters);
    json += json_of("gpu", gpu, options.epochs);
    fingerprints += fmt::format(",\"{}\":\"{}\"", rt::gpus()[0]->name(), rt::fingerprint(gpu.parameters));
    if (!options.json) print(rt::gpus()[0]->name(), gpu, options.epochs);
  }
  if (options.json) {
    fmt::print("{{{}\"fingerprints\":{{{}}}}}\n", json, fingerprints);
  } else {
    print_surfaces(cpu.parameters, std::filesystem::path(argv[0]).concat(".png"));
    fmt::print("{}\n", equal ? "equal bits" : "the fingerprints differ: please report it");
  }
  return equal ? 0 : 1;
}
