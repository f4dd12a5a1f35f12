// A training or prediction step of a whole network, on request: build/bench/models WORKLOAD PHASE SPEED THREADS
// [DEVICE]
//   digits|peaks|autoencoder|cifar10  train|predict  plain|default|accelerated  cpu|cuda|cuda:N
// After "ready" it answers each line of its input with one line:
//   run N        seconds that N steps took             loss N        the loss of step N after the starting values
//   memory       the process's peak, MiB               weights FILE  writes the starting values, answers "written"
//   probe        operations a second, now              floor PEAK    JSON: the step's floor at that peak, and its work
//   bandwidths   JSON: bytes a second by bytes touched           profile N    JSON: name and mean microseconds of
//                                                                 each kernel call in N steps; on a CUDA device
//                                                                 of each launch, between events there
//   reading N    seconds of N steps whose loss is read, as       fingerprint N    of all state, N steps after the
//                `retrace train` does, one step late           starting values
//   mode fast|fast_bf16|reproducible  sets it, answers the one before
// bench/peers speaks the first three; bench/measure.py asks.

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/common/floor.h"
#include "bench/common/probe.h"
#include "bench/common/workload.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/run/plan_cache.h"
#include "retrace/run/plan_settings.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/trace/record.h"
#include "retrace/train/late_loss.h"
#include "retrace/train/weights.h"

namespace retrace::bench {
namespace {

class Server {
 public:
  Server(const std::string& workload, bool trains, bool accelerated, Device& device)
      : device_(device), workload_(workload, accelerated, device), trains_(trains) {
    run(3);
  }

  std::string answer(const std::string& command, const std::string& argument) {
    if (command == "run") return fmt::format("{:.9f}", run(std::stoi(argument)));
    if (command == "loss") return fmt::format("{:.9g}", loss(std::stoi(argument)));
    if (command == "reading") return fmt::format("{:.9f}", run(std::stoi(argument), true));
    if (command == "fingerprint") return fingerprint_after(std::stoi(argument));
    if (command == "mode") return mode_name(set_mode(mode_named(argument)));
    if (command == "memory") return fmt::format("{:.1f}", peak_mib());
    if (command == "probe") return fmt::format("{:.6g}", probe_peak());
    if (command == "floor") return floor(std::stod(argument));
    if (command == "profile") return profile(std::stoi(argument));
    if (command == "weights") return write_weights(argument);
    if (command == "bandwidths") {
      nlohmann::json all;
      for (const auto& [bytes, rate] : bandwidths()) all[std::to_string(bytes)] = rate;
      return all.dump();
    }
    return "unknown command";
  }

 private:
  double run(int steps, bool reads = false) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) step(reads);
    if (late_) late_->number(), late_.reset();
    device_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  void step(bool reads) {
    if (trains_) {
      Tensor loss = workload_.train();
      if (!reads) return;
      LateLoss next(std::exchange(loss, Tensor()));
      if (late_) late_->number();
      late_ = std::move(next);
    } else {
      const Tree y = workload_.predict();
      evaluate();
    }
  }

  double loss(int steps) {
    workload_.restart();
    double value = 0;
    for (int i = 0; i < steps; ++i) value = workload_.train().number();
    return value;
  }

  std::string fingerprint_after(int steps) {
    loss(steps);
    return fingerprint(workload_.parameters(), workload_.state());
  }

  std::string write_weights(const std::string& path) {
    workload_.restart();
    write_safetensors(path, to_safetensors(workload_.parameters(), workload_.state()));
    return "written";
  }

  static double peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
  }

  // Means, in microseconds.
  std::string profile(int steps) {
    run(2);
    std::vector<double> seconds;
    Plan::time_kernel_calls(&seconds);
    run(steps);
    Plan::time_kernel_calls(nullptr);
    nlohmann::json calls = nlohmann::json::array();
    for (size_t i = 0; i < seconds.size(); ++i)
      calls.push_back({last_plan()->kernel_call_name(i), seconds[i] * 1e6 / steps});
    return calls.dump();
  }

  std::string floor(double peak) {
    run(2);  // the plan of a step amid others, with the update of the one before
    const auto work = unavoidable_work(last_plan()->trace());
    const Work sum = total(work);
    return nlohmann::json{{"floor_s", floor_seconds(work, peak)},
                          {"operations", sum.operations},
                          {"bytes", sum.bytes},
                          {"kernel_calls", last_plan()->kernel_calls()}}
        .dump();
  }

  Device& device_;
  std::optional<LateLoss> late_;  // of the last step
  Workload workload_;
  bool trains_;
};

int serve(const std::string& workload, const std::string& phase, const std::string& speed, const std::string& threads,
          const std::string& device) {
  set_thread_count(std::stoi(threads));
  set_plan_cache_enabled(speed != "plain");
  Server server(workload, phase == "train", speed == "accelerated", find_device(device));
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t space = line.find(' ');
    std::cout << server.answer(line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1))
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6)
    return fmt::print(stderr, "usage: models WORKLOAD train|predict plain|default|accelerated THREADS [DEVICE]\n"), 2;
  try {
    return retrace::bench::serve(argv[1], argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "cpu");
  } catch (const std::exception& error) {
    return fmt::print(stderr, "models: {}\n", error.what()), 1;
  }
}
