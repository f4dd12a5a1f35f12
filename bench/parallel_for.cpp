// What many small trainings gain from two workers: parallel_for [ROUNDS]. 20 trainings of a small network by
// parallel_for() on one worker of one thread and on two, in turn. Prints the median seconds of each and the median
// ratio of neighbours; fails if a fingerprint differs.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "retrace/distributed/parallel_for.h"
#include "retrace/distributed/pool.h"
#include "retrace/train/train_job.h"

namespace retrace::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The fingerprints of 20 trainings with a learn rate each, and the seconds that they took.
std::pair<std::vector<std::string>, double> trainings(int workers, int loaders) {
  Pool pool = Pool::local(workers, {.threads = 1});
  const auto begin = Clock::now();
  auto found = parallel_for(pool, 20, [&](int64_t i) {
    const Job job = parse_job(
        fmt::format(
            "threads = 1\n[network]\nname = \"digits\"\nwidth = 4\n[data]\ntrain_samples = 640\ntest_samples = 32\n"
            "[training]\nmax_epochs = 3\nmini_batch_size = 32\ninitial_learn_rate = {}\nloader_threads = {}\n",
            0.0005 * static_cast<double>(i + 1), loaders),
        "bench.toml");
    return train_job(job, {.write_run = false}).fingerprint;
  });
  return {std::move(found), std::chrono::duration<double>(Clock::now() - begin).count()};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int run(int rounds) {
  for (const int loaders : {0, 1}) {
    std::vector<double> one, two, ratios;
    const auto right = trainings(1, loaders).first;
    for (int round = 0; round < rounds; ++round) {
      const auto alone = trainings(1, loaders), both = trainings(2, loaders);
      if (alone.first != right || both.first != right) return fmt::print(stderr, "the fingerprints differ\n"), 1;
      one.push_back(alone.second), two.push_back(both.second), ratios.push_back(alone.second / both.second);
    }
    fmt::print("loader_threads = {}: one worker {:.2f} s, two {:.2f} s, ratio {:.2f}\n", loaders, median(one),
               median(two), median(ratios));
  }
  return 0;
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) { return retrace::bench::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 7); }
