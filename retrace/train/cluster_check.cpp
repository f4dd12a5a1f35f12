#include "retrace/train/cluster_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "retrace/distributed/worker_scope.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/job.h"
#include "retrace/train/train_job.h"
#include "retrace/train/versions.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kClockRounds = 20;

double seconds_of_day() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// A training of a few steps through kernels of every kind.
std::string fingerprint_alone() {
  const WorkerScope outside(false);
  const Job job = parse_job(
      "[network]\nname = \"digits\"\n[data]\ntrain_samples = 128\ntest_samples = 32\n[training]\nmax_epochs = 1\n",
      "the check of a cluster");
  return train_job(job, {.write_run = false}).fingerprint;
}

// Worker 0 asks every other one for its time; the shortest round trip says the difference best.
std::vector<double> clock_differences(const Worker& worker) {
  std::vector<double> differences(static_cast<size_t>(worker.size()));
  for (int round = 0; worker.index() > 0 && round < kClockRounds; ++round) {
    worker.receive<int>(0);
    worker.send(seconds_of_day(), 0);
  }
  for (int peer = 1; worker.index() == 0 && peer < worker.size(); ++peer) {
    double shortest = 1e9;
    for (int round = 0; round < kClockRounds; ++round) {
      const double asked = seconds_of_day();
      worker.send(round, peer);
      const double theirs = worker.receive<double>(peer), answered = seconds_of_day();
      if (answered - asked >= shortest) continue;
      shortest = answered - asked;
      differences[static_cast<size_t>(peer)] = theirs - (asked + answered) / 2;
    }
  }
  return worker.broadcast(differences);
}

template <class Call>
double median_seconds(int count, const Call& call) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[static_cast<size_t>(count) / 2];
}

// "worker 1 has retrace 0.2.0, worker 0 has 0.1.0"
template <class Value>
void compare(std::vector<std::string>& found, const std::vector<ClusterNode>& nodes, const char* what, Value value) {
  for (size_t i = 1; i < nodes.size(); ++i)
    if (value(nodes[i]) != value(nodes[0]))
      found.push_back(fmt::format("worker {} has {} {}, worker 0 has {}", i, what, value(nodes[i]), value(nodes[0])));
}

ClusterCheck check_worker(const Worker& worker) {
  const Versions versions = current_versions("cpu");
  ClusterCheck check;
  const auto gather = [&](const auto& mine) { return worker.all_gather(mine); };
  const auto hosts = gather(host()), releases = gather(versions.retrace), targets = gather(versions.simd_target);
  const auto contracts = gather(versions.contract),
             cores = gather(static_cast<int>(std::thread::hardware_concurrency()));
  const auto fingerprints = gather(fingerprint_alone());
  const auto clocks = clock_differences(worker);
  for (size_t i = 0; i < hosts.size(); ++i)
    check.nodes.push_back({hosts[i], releases[i], targets[i], contracts[i], cores[i], clocks[i], fingerprints[i]});
  check.barrier = worker.broadcast(median_seconds(200, [&] { worker.barrier(); }));
  for (const int64_t bytes : {int64_t{4} << 10, int64_t{256} << 10, int64_t{4} << 20}) {
    const std::string mine(static_cast<size_t>(bytes), 'x');
    check.gathers.emplace_back(bytes, worker.broadcast(median_seconds(20, [&] { worker.all_gather(mine); })));
  }
  compare(check.differences, check.nodes, "retrace", [](const auto& node) { return node.version; });
  compare(check.differences, check.nodes, "numerics contract", [](const auto& node) { return node.contract; });
  compare(check.differences, check.nodes, "the fingerprint", [](const auto& node) { return node.fingerprint; });
  return check;
}

}  // namespace

ClusterCheck check_cluster(Pool& pool) {
  return pool.spmd([](Worker& worker) { return check_worker(worker); })[0];
}

}  // namespace retrace
