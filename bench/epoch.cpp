// Training from a folder of JPEG files, on request: build/bench/epoch JOB THREADS FOLDER
// A job such as jobs/cifar10.toml as `retrace train` runs it (decoding, random flips and crops, steps, run folder with
// step log and checkpoints), without validation. FOLDER has train/CLASS/*.jpg and test/CLASS/*.jpg. After "ready" it
// answers each line of its input with one line:
//   run N     seconds that the next N steps took, beyond ends of epochs       probe    operations a second, now
//   loss      of the last step                                                images   of a mini-batch
// bench/peers/torch_epoch.py speaks all but "probe"; bench/epoch.py asks.

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "bench/common/probe.h"
#include "retrace/device/cpu/thread_count.h"
#include "retrace/train/train_job.h"

namespace retrace::bench {
namespace {

// Holds the training between two requests.
class Gate {
 public:
  // Of the training, after each step.
  void step(double loss) {
    std::unique_lock lock(mutex_);
    ++done_, loss_ = loss;
    changed_.notify_all();
    changed_.wait(lock, [&] { return closed_ || done_ < wanted_; });
  }
  void run(int64_t steps) {
    std::unique_lock lock(mutex_);
    wanted_ = done_ + steps;
    changed_.notify_all();
    changed_.wait(lock, [&] { return closed_ || done_ >= wanted_; });
  }
  // Ends the training, and what waits for it.
  void close() {
    const std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  bool closed() {
    const std::unique_lock lock(mutex_);
    return closed_;
  }
  double loss() {
    const std::unique_lock lock(mutex_);
    return loss_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t done_ = 0, wanted_ = 0;
  double loss_ = 0;
  bool closed_ = false;
};

Job job_on(const std::string& file, const std::string& threads, const std::string& folder) {
  return read_job(file, {{"data.path", folder, ""},
                         {"data.test_samples", "10", ""},
                         {"validation.data", "none", ""},
                         {"training.max_epochs", "100000", ""},
                         {"training.average_decay", "0", ""},  // what the peer does not do
                         {"training.l2_regularization", "1e-10", ""},
                         {"threads", threads, ""}});
}

std::string answer(Gate& gate, const Job& job, const std::string& command, int64_t count) {
  if (command == "loss") return fmt::format("{:.6f}", gate.loss());
  if (command == "images") return fmt::format("{}", job.training.mini_batch_size);
  if (command == "probe") return fmt::format("{:.6g}", probe_peak());
  if (command != "run") return "unknown command";
  const auto start = std::chrono::steady_clock::now();
  gate.run(count);
  return fmt::format("{:.9f}", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

int serve(const Job& job, const std::filesystem::path& out) {
  Gate gate;
  int exit_code = 0;
  std::jthread training([&] {
    try {
      train_job(job, {.out = out,
                      .on_step = [&](const StepRecord& step) { gate.step(step.loss); },
                      .stop = [&] { return gate.closed(); }});
    } catch (const std::exception& error) {
      std::cerr << error.what() << "\n";
      exit_code = 1;
    }
    gate.close();
  });
  gate.run(1);
  set_thread_count(job.threads);  // of the probe
  if (!gate.closed()) std::cout << "ready" << std::endl;
  for (std::string line; !gate.closed() && std::getline(std::cin, line);) {
    const size_t space = std::min(line.find(' '), line.size());
    const int64_t number = space < line.size() ? std::stoll(line.substr(space)) : 1;
    std::cout << answer(gate, job, line.substr(0, space), number) << std::endl;
  }
  gate.close();
  training.join();
  return exit_code;
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "epoch JOB THREADS FOLDER\n";
    return 2;
  }
  const auto out = std::filesystem::temp_directory_path() / fmt::format("retrace_bench_epoch_{}", ::getpid());
  const int exit_code = retrace::bench::serve(retrace::bench::job_on(argv[1], argv[2], argv[3]), out);
  std::filesystem::remove_all(out);
  return exit_code;
}
