// A custom training loop run by a pool of workers: each has its shards of every mini-batch; losses, gradients, right
// answers and batch-norm moments are combined over all of them. The number of workers changes the time and no bit.
//   build/examples/parallel_loop [--workers N] [--device NAME] [--epochs N] [--quick] [--json]
// Under mpirun -n N (or srun) the workers are its ranks instead. With --device cuda each has a CUDA device (with
// RETRACE_CUDA_EMULATION=1 an emulated one, for --quick), and one worker on the CPU is compared with them.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <map>
#include <string>

#include "retrace/retrace.h"

namespace rt = retrace;

constexpr int kShards = 4;      // part of the job: how a mini-batch is cut, whoever computes the parts
constexpr int kMiniBatch = 30;  // 8, 8, 7 and 7 samples

struct Outputs {
  rt::Tensor scores;
  rt::Tree moments;
};

Outputs model(const rt::Tree& p, const rt::Tensor& images, const rt::Tree& state, rt::Phase phase) {
  rt::Tree moments;
  auto stage = [&](const rt::Tensor& x, const char* conv, const char* norm) {
    auto result =
        rt::batch_norm(rt::conv2d(x, p[conv], {.stride = 2, .padding = rt::same}), p[norm], state[norm], phase);
    moments[norm] = result.moments;
    return rt::relu(result.y);
  };
  const auto x = stage(stage(images, "conv1", "norm1"), "conv2", "norm2");
  return {rt::softmax(rt::linear(x, p["class"])), moments};
}

// The loss is the mean over the samples of a shard; what else is returned says how it is combined.
auto loss(const rt::Tree& p, const rt::Tensor& images, const rt::Tensor& labels, const rt::Tree& state) {
  auto [scores, moments] = model(p, images, state, rt::Phase::train);
  const auto right = rt::sum(rt::cast(rt::equal(rt::one_hot_decode(scores), labels), rt::DType::f32));
  return rt::WithAux{rt::cross_entropy(scores, rt::one_hot(labels, 10)),
                     rt::Tree{{"moments", moments}, {"right", rt::sum_over_shards(right)}}};
}

rt::Tree initial_parameters(rt::RandomKey key) {
  auto conv = [&](const char* name, rt::Shape shape) {
    return rt::Tree{{"weights", rt::nn::glorot_uniform(shape, rt::nn::conv2d_fans(shape), key.split(name))},
                    {"bias", rt::Tensor::zeros({shape.back()})}};
  };
  auto norm = [](int64_t n) {
    return rt::Tree{{"scale", rt::Tensor::full(1, {n})}, {"offset", rt::Tensor::zeros({n})}};
  };
  const rt::Shape scores{10, 7 * 7 * 16};
  return {{"conv1", conv("conv1", {3, 3, 1, 8})},
          {"norm1", norm(8)},
          {"conv2", conv("conv2", {3, 3, 8, 16})},
          {"norm2", norm(16)},
          {"class",
           {{"weights", rt::nn::glorot_uniform(scores, rt::nn::linear_fans(scores), key.split("class"))},
            {"bias", rt::Tensor::zeros({10})}}}};
}

rt::Tree initial_state() {
  auto norm = [](int64_t n) {
    return rt::Tree{{"mean", rt::Tensor::zeros({n})}, {"variance", rt::Tensor::full(1, {n})}};
  };
  return {{"norm1", norm(8)}, {"norm2", norm(16)}};
}

struct Result {
  double seconds, loss, accuracy;  // of the last epoch
  std::string fingerprint;
};

// Trains on all workers of a pool; every one of them ends with the same parameters.
Result train(rt::Pool& pool, const rt::MiniBatchQueue& whole, const std::string& device_name, int epochs) {
  return pool.spmd([&](rt::Worker& worker) {
    rt::Device& device = rt::find_device(device_name, worker.index());
    auto queue = whole.share(worker, kShards);  // my shards of every mini-batch
    auto step = rt::accelerate(rt::value_and_grad(loss, {.shards = kShards, .worker = &worker}));
    auto parameters = initial_parameters(rt::random_key(1)).to(device);
    auto state = initial_state().to(device);
    rt::AdamState adam;
    double loss_sum = 0, right = 0, samples = 0, mini_batches = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      loss_sum = right = samples = mini_batches = 0;
      for (queue.shuffle(); worker.all(queue.has_data()); ++mini_batches) {
        auto [images, labels] = queue.next<2>();
        auto [value, gradients, aux] = step(parameters, images, labels, state);
        auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.002f});
        parameters = updated.parameters, adam = updated.state;
        state = rt::update_statistics(state, aux["moments"]);
        loss_sum += value.number(), right += aux["right"].tensor().number();
        samples += worker.sum(static_cast<double>(images.shape()[0]));
      }
      if (worker.index() == 0)
        fmt::print(stderr, "{} workers, epoch {}: loss {:.4f}, accuracy {:.4f}\n", worker.size(), epoch,
                   loss_sum / mini_batches, right / samples);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return Result{seconds.count(), loss_sum / mini_batches, right / samples, rt::fingerprint(parameters, state)};
  })[0];
}

struct Options {
  int workers = 0, epochs = 3;  // 0: 1, 2, 3 and 4 in turn
  int64_t samples = 5000;
  std::string device = "cpu";
  bool json = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    const auto number = [&](int& to) {
      return std::from_chars(value.data(), value.data() + value.size(), to).ec == std::errc() && to > 0 && ++i;
    };
    if (name == "--json") {
      options.json = true;
    } else if (name == "--quick") {
      options.epochs = 1, options.samples = 250;
    } else if (name == "--device" && !value.empty()) {
      options.device = value, ++i;
    } else if (!(name == "--workers" && number(options.workers)) && !(name == "--epochs" && number(options.epochs))) {
      fmt::print(stderr,
                 "{} is not understood: parallel_loop [--workers N] [--device NAME] [--epochs N] [--quick] [--json]\n",
                 name);
      std::exit(2);
    }
  }
  return options;
}

// The results by their labels.
std::map<std::string, Result> train_all(rt::Pool& ranks, const Options& options) {
  const rt::Datastore store = rt::datasets::digits(rt::Split::train, {.count = options.samples, .seed = 1});
  const auto train_on = [&](rt::Pool& pool, const std::string& device) {
    const rt::MiniBatchQueue whole(
        store, {.mini_batch_size = kMiniBatch, .formats = {"BSSC", "B"}, .devices = {device}, .outputs = 2, .seed = 1});
    return train(pool, whole, device, options.epochs);
  };
  const auto label = [](int workers) { return fmt::format("workers={}", workers); };
  if (ranks.size() > 1) return {{label(ranks.size()), train_on(ranks, options.device)}};
  std::map<std::string, Result> results;
  const int least = options.workers ? options.workers : 1, most = options.workers ? options.workers : kShards;
  for (int n = least; n <= most; ++n) {
    auto pool = rt::Pool::local(n);
    results[label(n)] = train_on(pool, options.device);
  }
  if (rt::find_device(options.device).id() != 0) results["cpu"] = train_on(ranks, "cpu");
  return results;
}

int run(const Options& options) {
  auto ranks = rt::Pool::from_environment();
  const auto results = train_all(ranks, options);
  if (!ranks.is_first()) return 0;
  const Result& any = results.begin()->second;
  bool equal = true;
  std::string json;
  for (const auto& [label, result] : results) {
    equal &= result.fingerprint == any.fingerprint;
    json += fmt::format("{}\"{}\":\"{}\"", json.empty() ? "" : ",", label, result.fingerprint);
    if (!options.json)
      fmt::print("{}: {:.2f} s, loss {:.6f}, accuracy {:.4f}, fingerprint {}\n", label, result.seconds, result.loss,
                 result.accuracy, result.fingerprint);
  }
  if (options.json)
    fmt::print("{{\"fingerprints\":{{{}}},\"loss\":{},\"accuracy\":{}}}\n", json, any.loss, any.accuracy);
  else
    fmt::print("{}\n",
               equal ? "the same bits for every number of workers" : "the fingerprints differ: please report it");
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
