// A custom training loop run by a pool of workers: each has its shards of every mini-batch; losses, gradients, right
// answers and batch-norm moments are combined over all of them. The number of workers changes the time and no bit.
// Worker 0 tells of its progress through a queue; Ctrl-C stops all workers at the same iteration through another one.
// Then several networks are trained at once, each by one worker.
//   build/examples/parallel_loop [--workers N] [--device NAME] [--epochs N] [--quick] [--json] [--monitor]
// Under mpirun -n N (or srun) the workers are its ranks instead. With --device cuda each has a CUDA device (with
// RETRACE_CUDA_EMULATION=1 an emulated one, for --quick), and one worker on the CPU is compared with them.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
  int64_t stopped_at;              // iteration; 0: it was not stopped
  std::string fingerprint;
};

// What worker 0 says once in a while.
struct Progress {
  int epoch;
  int64_t iteration;
  double loss;
};

volatile std::sig_atomic_t interrupted = 0;

// A line that is alive while workers train; outside of a terminal a line once in a while.
void show(const Progress& p, int workers) {
  const bool alive = isatty(STDERR_FILENO);
  if (!alive && p.iteration % 100 != 0) return;
  fmt::print(stderr, "{}{} worker{}, epoch {}, iteration {}: loss {:.4f}{}", alive ? "\r" : "", workers,
             workers == 1 ? "" : "s", p.epoch, p.iteration, p.loss, alive ? " " : "\n");
}

// The same on the live page; whether its button was pressed.
bool show_on_page(rt::TrainingProgressMonitor& monitor, const Progress& p, int workers, int epochs) {
  monitor.record_metrics(static_cast<double>(p.iteration), {{fmt::format("workers_{}", workers), p.loss}});
  monitor.update_info({{"Epoch", fmt::format("{} of {}", p.epoch, epochs)}, {"Workers", fmt::format("{}", workers)}});
  monitor.set_progress(100.0 * p.epoch / epochs);
  return monitor.stop();
}

// Trains on all workers of a pool; every one of them ends with the same parameters. `monitor`: null where nobody
// watches.
Result train(rt::Pool& pool, const rt::MiniBatchQueue& whole, const std::string& device_name, int epochs,
             rt::TrainingProgressMonitor* monitor) {
  const rt::DataQueue<Progress> progress;  // from worker 0 to this thread
  const rt::DataQueue<bool> stop;          // from this thread to the workers
  progress.after_each([&](const Progress& p) {
    show(p, pool.size());
    if (interrupted || (monitor && show_on_page(*monitor, p, pool.size(), epochs))) stop.send(true);
  });
  const Result result = pool.spmd([&](rt::Worker& worker) {
    rt::Device& device = rt::find_device(device_name, worker.index());
    auto queue = whole.share(worker, kShards);  // my shards of every mini-batch
    auto step = rt::accelerate(rt::value_and_grad(loss, {.shards = kShards, .worker = &worker}));
    auto parameters = initial_parameters(rt::random_key(1)).to(device);
    auto state = initial_state().to(device);
    rt::AdamState adam;
    double loss_sum = 0, right = 0, samples = 0, mini_batches = 0;
    int64_t iteration = 0, stopped_at = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int epoch = 1; epoch <= epochs && !stopped_at; ++epoch) {
      loss_sum = right = samples = mini_batches = 0;
      for (queue.shuffle(); !stopped_at && worker.all(queue.has_data()); ++mini_batches) {
        auto [images, labels] = queue.next<2>();
        auto [value, gradients, aux] = step(parameters, images, labels, state);
        auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.002f});
        parameters = updated.parameters, adam = updated.state;
        state = rt::update_statistics(state, aux["moments"]);
        loss_sum += value.number(), right += aux["right"].tensor().number();
        samples += worker.sum(static_cast<double>(images.shape()[0]));
        if (++iteration % 10 == 0 && worker.index() == 0)
          progress.send({epoch, iteration, loss_sum / (mini_batches + 1)});
        if (worker.sum(stop.length()) > 0) stopped_at = iteration;  // the same for all
      }
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    return Result{seconds.count(), loss_sum / mini_batches, right / samples, stopped_at,
                  rt::fingerprint(parameters, state)};
  })[0];
  if (pool.is_first() && isatty(STDERR_FILENO)) fmt::print(stderr, "\n");
  return result;
}

// Networks with another start and another rate each, one worker for each of them; their parameters by index.
std::vector<rt::Tree> train_several(rt::Pool& pool, const rt::Datastore& store, const std::string& device_name,
                                    int epochs) {
  return rt::parallel_for(pool, 4, [&](int64_t i) {
    rt::Device& device = rt::find_device(device_name);
    rt::MiniBatchQueue queue(
        store,
        {.mini_batch_size = kMiniBatch, .formats = {"BSSC", "B"}, .devices = {device_name}, .outputs = 2, .seed = 1});
    auto step = rt::accelerate(rt::value_and_grad(loss));
    auto parameters = initial_parameters(rt::random_key(1).split(static_cast<uint64_t>(i))).to(device);
    auto state = initial_state().to(device);
    rt::AdamState adam;
    for (int epoch = 1; epoch <= epochs; ++epoch)
      for (queue.shuffle(); queue.has_data();) {
        auto [images, labels] = queue.next<2>();
        auto [value, gradients, aux] = step(parameters, images, labels, state);
        auto updated = rt::adam_update(parameters, gradients, adam, {.learn_rate = 0.001f * static_cast<float>(i + 1)});
        parameters = updated.parameters, adam = updated.state;
        state = rt::update_statistics(state, aux["moments"]);
      }
    return parameters.to(rt::find_device("cpu"));
  });
}

struct Options {
  int workers = 0, epochs = 3;  // 0: 1, 2, 3 and 4 in turn
  int64_t samples = 5000;
  std::string device = "cpu";
  bool json = false, watch = false;
  rt::TrainingProgressMonitor* monitor = nullptr;
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
    } else if (name == "--monitor") {
      options.watch = true;
    } else if (name == "--quick") {
      options.epochs = 1, options.samples = 250;
    } else if (name == "--device" && !value.empty()) {
      options.device = value, ++i;
    } else if (!(name == "--workers" && number(options.workers)) && !(name == "--epochs" && number(options.epochs))) {
      fmt::print(stderr,
                 "{} is not understood: parallel_loop [--workers N] [--device NAME] [--epochs N] [--quick] [--json] "
                 "[--monitor]\n",
                 name);
      std::exit(2);
    }
  }
  return options;
}

rt::Datastore digits(const Options& options) {
  return rt::datasets::digits(rt::Split::train, {.count = options.samples, .seed = 1});
}

// The results by their labels.
std::map<std::string, Result> train_all(rt::Pool& ranks, const Options& options) {
  const auto train_on = [&](rt::Pool& pool, const std::string& device) {
    const rt::MiniBatchQueue whole(
        digits(options),
        {.mini_batch_size = kMiniBatch, .formats = {"BSSC", "B"}, .devices = {device}, .outputs = 2, .seed = 1});
    return train(pool, whole, device, options.epochs, options.monitor);
  };
  const auto label = [](int workers) { return fmt::format("workers={}", workers); };
  if (ranks.size() > 1) return {{label(ranks.size()), train_on(ranks, options.device)}};
  std::map<std::string, Result> results;
  const int least = options.workers ? options.workers : 1, most = options.workers ? options.workers : kShards;
  for (int n = least; n <= most; ++n) {
    auto pool = rt::Pool::local(n);
    const Result& result = results[label(n)] = train_on(pool, options.device);
    if (result.stopped_at > 0) return results;
  }
  if (rt::find_device(options.device).id() != 0) results["cpu"] = train_on(ranks, "cpu");
  return results;
}

// The fingerprints of the networks that are trained side by side.
std::vector<std::string> train_side_by_side(rt::Pool& ranks, const Options& options) {
  auto here = rt::Pool::local(options.workers ? options.workers : 2);
  rt::Pool& pool = ranks.size() > 1 ? ranks : here;
  std::vector<std::string> fingerprints;
  for (const rt::Tree& parameters : train_several(pool, digits(options), options.device, options.epochs))
    fingerprints.push_back(rt::fingerprint(parameters));
  return fingerprints;
}

void print_text(const std::map<std::string, Result>& results, const std::vector<std::string>& networks, bool equal) {
  for (const auto& [label, result] : results)
    fmt::print("{}: {:.2f} s, loss {:.6f}, accuracy {:.4f}, fingerprint {}\n", label, result.seconds, result.loss,
               result.accuracy, result.fingerprint);
  fmt::print("{}\n", equal ? "the same bits for every number of workers" : "the fingerprints differ: please report it");
  for (size_t i = 0; i < networks.size(); ++i) fmt::print("network {}: fingerprint {}\n", i, networks[i]);
}

void print_json(const std::map<std::string, Result>& results, const std::vector<std::string>& networks) {
  std::string by_workers, by_index;
  for (const auto& [label, result] : results)
    by_workers += fmt::format("{}\"{}\":\"{}\"", by_workers.empty() ? "" : ",", label, result.fingerprint);
  for (const auto& one : networks) by_index += fmt::format("{}\"{}\"", by_index.empty() ? "" : ",", one);
  const Result& any = results.begin()->second;
  fmt::print("{{\"fingerprints\":{{{}}},\"parallel_for\":[{}],\"loss\":{},\"accuracy\":{}}}\n", by_workers, by_index,
             any.loss, any.accuracy);
}

int run(Options options) {
  auto ranks = rt::Pool::from_environment();
  std::optional<rt::TrainingProgressMonitor> monitor;
  if (options.watch && ranks.is_first()) {
    options.monitor = &monitor.emplace(rt::ProgressMonitorOptions{.name = "parallel_loop", .x_label = "Iteration"});
    monitor->group("training loss", {"workers_1", "workers_2", "workers_3", "workers_4"});
    fmt::print(stderr, "live page: {}\n", monitor->url());
  }
  std::signal(SIGINT, [](int number) {
    interrupted = 1;
    std::signal(number, SIG_DFL);  // the second one ends at once
  });
  const auto results = train_all(ranks, options);
  for (const auto& [label, result] : results) {
    if (result.stopped_at == 0) continue;
    if (ranks.is_first()) fmt::print("{}: stopped at iteration {}, on all workers\n", label, result.stopped_at);
    return 0;
  }
  std::signal(SIGINT, SIG_DFL);
  const auto networks = train_side_by_side(ranks, options);
  if (!ranks.is_first()) return 0;
  bool equal = true;
  for (const auto& [label, result] : results) equal &= result.fingerprint == results.begin()->second.fingerprint;
  if (options.json)
    print_json(results, networks);
  else
    print_text(results, networks, equal);
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
