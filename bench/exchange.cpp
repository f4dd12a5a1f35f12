// What the exchange of a step costs, for bench/exchange.py; worker 0 prints a line of JSON for each result.
//
//   exchange step NETWORK WORKERS SAMPLES   one worker of so many, each with so many samples, whose peers answer at
//   once:
//                                           its step without a network, and which messages it has for one
//   exchange sums SECONDS BYTES...          ranks: sums of so many bytes, each for about so many seconds
//   exchange train NETWORK SAMPLES          ranks: a training step, and how much of its exchanges each worker waits for

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/common/workload.h"
#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/distributed/courier.h"
#include "retrace/distributed/mpi_group.h"
#include "retrace/ops/all_reduce/exchange.h"

namespace retrace::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr int kWarmSteps = 5, kSteps = 25, kSumsAtOnce = 5;
constexpr size_t kMostSums = 400;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(p * static_cast<double>(values.size() - 1) + 0.5)];
}

// Notes the exchanges that go through it.
class NotedGroup : public Group {
 public:
  explicit NotedGroup(std::shared_ptr<Group> group) : group_(std::move(group)) {}
  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) override {
    const auto start = Clock::now();
    size_t bytes = 0, longest = 0;
    for (size_t r = 0; r < sent.size(); ++r) {
      if (static_cast<int>(r) == rank()) continue;
      bytes += sent[r].bytes, longest = std::max(longest, sent[r].bytes);
    }
    group_->exchange(sent, received, what);
    if (noted.size() < kMost)
      noted.push_back({{"what", what},
                       {"at_s", std::chrono::duration<double>(start - begin).count()},
                       {"seconds", seconds_since(start)},
                       {"bytes", bytes},
                       {"longest", longest}});
  }
  bool is_local() const override { return group_->is_local(); }
  void fail(const std::string& why) noexcept override { group_->fail(why); }

  Clock::time_point begin = Clock::now();
  std::vector<Json> noted;

 private:
  static constexpr size_t kMost = 100000;
  std::shared_ptr<Group> group_;
};

// Member 0 of so many, who all are as it is.
class EchoGroup : public Group {
 public:
  explicit EchoGroup(int size) : size_(size) {}
  int rank() const override { return 0; }
  int size() const override { return size_; }
  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char*) override {
    for (size_t r = 0; r < sent.size(); ++r) {
      const size_t bytes = std::min(sent[r].bytes, received[r].bytes);
      if (bytes) std::memcpy(received[r].data, sent[r].data, bytes);
      if (received[r].bytes > bytes)
        std::memset(static_cast<char*>(received[r].data) + bytes, 0, received[r].bytes - bytes);
    }
  }
  void fail(const std::string&) noexcept override {}

 private:
  int size_;
};

// Steps of a worker, and the exchanges of the fastest one.
Json steps_of(const std::string& network, int64_t samples, const std::shared_ptr<NotedGroup>& group) {
  const auto courier = std::make_shared<Courier>(group);
  const CourierScope scope(group->size() > 1 ? courier.get() : nullptr);
  Worker worker(courier);
  Workload workload(network, true, cpu_device(), {&worker, samples});
  std::vector<double> steps, waits, travels;
  std::vector<Json> noted;
  for (int i = 0; i < kWarmSteps + kSteps; ++i) {
    worker.barrier();
    group->noted.clear();
    const double waited = courier->waited();
    group->begin = Clock::now();
    workload.train().item<float>();
    const double step = seconds_since(group->begin);
    if (i < kWarmSteps) continue;
    if (steps.empty() || step < *std::min_element(steps.begin(), steps.end())) noted = group->noted;
    double travelled = 0;
    for (const Json& one : group->noted) travelled += one["seconds"].get<double>();
    steps.push_back(step), waits.push_back(courier->waited() - waited), travels.push_back(travelled);
  }
  return {{"network", network},
          {"workers", group->size()},
          {"samples", samples},
          {"step_s", quantile(steps, 0.5)},
          {"waited_s", quantile(waits, 0.5)},
          {"travelled_s", quantile(travels, 0.5)},
          {"exchanges", noted}};
}

void print(const Json& row) {
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

// Exchanges of sums, of which each worker has one, one behind the other.
Json sums(Worker& worker, double budget, int64_t bytes) {
  const TensorSpec spec{DType::f32, {bytes / 4}, {}, {}};
  const TensorSpec* const specs[] = {&spec};
  const ExchangeShape shape({worker.size(), worker.size(), worker.size(), worker.index()}, specs, 1);
  std::vector<float> mine(static_cast<size_t>(bytes / 4), 1.0f), all(mine.size());
  std::vector<char> memory(static_cast<size_t>(exchange_bytes(shape)));
  const void* const given[] = {mine.data()};
  void* const made[] = {all.data()};
  std::vector<double> times;
  const auto run = [&] {
    const auto start = Clock::now();
    start_exchange(shape, given, memory.data());
    finish_exchange(memory.data(), made);
    return seconds_since(start);
  };
  for (int i = 0; i < kSumsAtOnce; ++i) run();  // connections, and what the protocols learn of the links
  double spent = 0;
  do
    for (int i = 0; i < kSumsAtOnce; ++i) times.push_back(run()), spent += times.back();
  while (worker.broadcast(spent < budget && times.size() < kMostSums));
  ensure(all[0] == static_cast<float>(worker.size()), "the sum of all workers");
  return {{"workers", worker.size()},      {"bytes", bytes},
          {"count", times.size()},         {"mean_s", spent / static_cast<double>(times.size())},
          {"p10_s", quantile(times, 0.1)}, {"median_s", quantile(times, 0.5)},
          {"p90_s", quantile(times, 0.9)}};
}

void run_sums(double budget, const std::vector<int64_t>& sizes) {
  const auto courier = std::make_shared<Courier>(mpi_group(60));
  const CourierScope scope(courier.get());
  Worker worker(courier);
  for (const int64_t bytes : sizes) {
    const Json row = sums(worker, budget, bytes);
    if (worker.index() == 0) print(row);
  }
}

int run(const std::vector<std::string>& words) {
  const auto number = [&](size_t i) { return std::stoll(words.at(i)); };
  if (words.size() == 4 && words[0] == "step") {
    print(steps_of(words[1], number(3), std::make_shared<NotedGroup>(std::make_shared<EchoGroup>(number(2)))));
  } else if (words.size() > 2 && words[0] == "sums") {
    std::vector<int64_t> sizes;
    for (size_t i = 2; i < words.size(); ++i) sizes.push_back(number(i));
    run_sums(std::stod(words[1]), sizes);
  } else if (words.size() == 3 && words[0] == "train") {
    const ThreadCountScope one(1);
    const auto group = std::make_shared<NotedGroup>(mpi_group(60));
    const Json row = steps_of(words[1], number(2), group);
    if (group->rank() == 0) print(row);
  } else {
    fmt::print(stderr,
               "usage: exchange step NETWORK WORKERS SAMPLES | sums SECONDS BYTES... | train NETWORK SAMPLES\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace retrace::bench

int main(int count, char** arguments) {
  const retrace::FloatingPointScope floating_point;
  return retrace::bench::run({arguments + 1, arguments + count});
}
