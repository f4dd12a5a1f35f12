// What messages to a data queue cost a training: queue [SECONDS]. Two workers of this process train the digits network,
// with mini-batches of 16 images each, in turn with 10,000 messages a second from worker 0 to the queue, and with none.
// Prints the processor time of a step of each, and the ratio of neighbours: median, 10 and 90 %; and the processor time
// of the messages in a process that does nothing else.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/workload.h"
#include "retrace/distributed/data_queue.h"
#include "retrace/distributed/patience.h"
#include "retrace/distributed/pool.h"

namespace retrace::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStepsAtOnce = 50;
constexpr double kMessages = 10000;  // a second

struct Progress {
  int iteration = 0;
  float loss = 0;
};

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(p * static_cast<double>(values.size() - 1) + 0.5)];
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Seconds of the processors that a step takes; with messages, as many as belong to the time that has passed.
double steps(Worker& worker, Workload& workload, const DataQueue<Progress>* queue) {
  worker.barrier();
  const double before = process_seconds();
  const auto start = Clock::now();
  double sent = 0;
  for (int i = 0; i < kStepsAtOnce; ++i) {
    const float loss = workload.train().item<float>();
    if (queue && worker.index() == 0)
      for (const double due = kMessages * seconds_since(start); sent < due; ++sent) queue->send({i, loss});
  }
  worker.barrier();
  return (process_seconds() - before) / kStepsAtOnce;
}

// Seconds of the processors in a second in which a worker sleeps for 2 ms at a time, and sends what is due.
double asleep(const DataQueue<Progress>* queue) {
  constexpr double kSeconds = 5;
  const double before = process_seconds();
  const auto start = Clock::now();
  double sent = 0;
  while (seconds_since(start) < kSeconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (queue)
      for (const double due = kMessages * seconds_since(start); sent < due; ++sent) queue->send({0, 0});
  }
  return (process_seconds() - before) / kSeconds;
}

void run(double budget) {
  const DataQueue<Progress> queue;
  int64_t told = 0;
  float last = 0;
  queue.after_each([&](const Progress& progress) { ++told, last = progress.loss; });
  Pool::local(2, {.threads = 1}).spmd([&](Worker& worker) {
    Workload workload("digits", true, cpu_device(), {&worker, 16});
    std::vector<double> with, without, ratios;
    const auto start = Clock::now();
    for (int i = 0; i < 3; ++i) steps(worker, workload, nullptr);
    do {
      const bool first = with.size() % 2 == 0;
      if (first) with.push_back(steps(worker, workload, &queue));
      without.push_back(steps(worker, workload, nullptr));
      if (!first) with.push_back(steps(worker, workload, &queue));
      ratios.push_back(with.back() / without.back());
    } while (worker.broadcast(seconds_since(start) < budget));
    if (worker.index() == 0)
      fmt::print("a step takes {:.3f} ms of the processors, with {:.0f} messages a second {:.3f} ms\n",
                 quantile(without, 0.5) * 1e3, kMessages, quantile(with, 0.5) * 1e3),
          fmt::print("ratio of {} pairs: {:.4f}, 10 - 90 % {:.4f} - {:.4f}\n", ratios.size(), quantile(ratios, 0.5),
                     quantile(ratios, 0.1), quantile(ratios, 0.9));
  });
  Pool::local(2, {.threads = 1}).spmd([&](Worker& worker) {
    if (worker.index() > 0) return;
    const double nothing = asleep(nullptr);
    fmt::print("they take {:.2f} ms of the processors in a second\n", (asleep(&queue) - nothing) * 1e3);
  });
  fmt::print("{} messages were told\n", told);
}

}  // namespace
}  // namespace retrace::bench

int main(int count, char** arguments) { retrace::bench::run(count > 1 ? std::stod(arguments[1]) : 20); }
