// The curves of many runs, as a page that shows them reads them. From the source tree:
//   series make DIR [RUNS] [POINTS]   makes DIR/run-1 ... with steps.jsonl and metrics.jsonl (1,000 runs of 100,000
//   steps) series read DIR                   opens each of them, zooms, and prints times and memory
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>

#include "retrace/base/file.h"
#include "retrace/base/mix64.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/report/run_standing.h"
#include "retrace/report/series_cache.h"
#include "retrace/train/step_log.h"

using namespace retrace;
namespace fs = std::filesystem;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

// A loss that falls, with noise that is the same every time, and now and then a peak.
double loss_at(int run, int64_t step) {
  const uint64_t bits = mix64(static_cast<uint64_t>(run) << 32 | static_cast<uint64_t>(step));
  const double noise = static_cast<double>(bits >> 11) * 0x1p-53;
  return (bits % 5000 == 0 ? 5 : 0) + 2.3 * std::exp(-static_cast<double>(step) / 20'000) + 0.1 * noise;
}

std::string steps_of(int run, int64_t points) {
  std::string text;
  text.reserve(static_cast<size_t>(points) * 120);
  for (int64_t step = 1; step <= points; ++step) {
    const StepRecord record{.iteration = step,
                            .epoch = static_cast<int>((step - 1) / 1000 + 1),
                            .samples = mix64(static_cast<uint64_t>(step)),
                            .loss = loss_at(run, step),
                            .learn_rate = 0.001,
                            .tensors = {}};
    if (step == 1) text += step_line(record) + "\n";
    // The same, faster.
    else
      fmt::format_to(std::back_inserter(text),
                     "{{\"iteration\":{},\"epoch\":{},\"samples\":\"{:016x}\",\"loss\":{},\"learn_rate\":0.001}}\n",
                     step, record.epoch, record.samples, record.loss);
  }
  return text;
}

std::string events_of(int run, int64_t points, const fs::path& folder) {
  RunStarted start{fmt::format("made-{}", run), "cpu", folder.string()};
  start.epochs = points / 1000, start.iterations_per_epoch = 1000, start.parameters = 1234;
  std::string text = event_json(start) + "\n";
  for (int epoch = 1; epoch <= points / 1000; ++epoch) {
    const double loss = loss_at(run, epoch * 1000), seconds = epoch * 0.7;
    text += event_json(EpochDone{epoch, epoch * 1000, loss, seconds}) + "\n";
    text += event_json(ValidationDone{epoch, epoch * 1000, loss * 1.1, seconds, {{"accuracy", 1 - loss / 10}}}) + "\n";
  }
  const RunFinished end{static_cast<int>(points / 1000),  points, 0.5, 70, {{"accuracy", 0.9}}, "max epochs completed",
                        fmt::format("{:016x}", run % 100)};
  return text + event_json(end) + "\n";
}

void make(const fs::path& root, int runs, int64_t points) {
  for (int run = 1; run <= runs; ++run) {
    const fs::path folder = root / fmt::format("run-{}", run);
    fs::create_directories(folder);
    std::ofstream(folder / "steps.jsonl", std::ios::binary) << steps_of(run, points);
    std::ofstream(folder / "metrics.jsonl", std::ios::binary) << events_of(run, points, folder);
    fs::copy_file("jobs/digits.toml", folder / "job.toml", fs::copy_options::overwrite_existing);
  }
}

struct Times {
  std::vector<double> milliseconds;
  template <class F>
  void add(const F& f) {
    const double begin = now();
    f();
    milliseconds.push_back((now() - begin) * 1000);
  }
  void print(const char* what) {
    std::sort(milliseconds.begin(), milliseconds.end());
    const size_t count = milliseconds.size();
    fmt::print("{:<44} {:9.3f} ms median, {:9.3f} ms at most, {} times\n", what, milliseconds[count / 2],
               milliseconds[count - 1], count);
  }
};

void read(const fs::path& root) {
  std::vector<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(root)) runs.push_back(entry.path());
  std::sort(runs.begin(), runs.end());
  fmt::print("{} runs; {:.0f} MiB before\n", runs.size(), resident_mib());
  Times standing, first, zoom, again;
  for (const auto& run : runs) standing.add([&] { read_run_standing(run); });
  standing.print("standing of a run");
  SeriesCache cache;
  double most_memory = 0;
  uint64_t points = 0;
  for (const auto& run : runs) {
    first.add([&] { points += cache.at(run).read("loss", -HUGE_VAL, HUGE_VAL, 1000).size(); });
    most_memory = std::max(most_memory, resident_mib());
  }
  first.print("opening a run, all points in 1,000 buckets");
  const double end = cache.at(runs.back()).list()[0].x_last;
  for (size_t i = 0; i < runs.size(); ++i) {
    const double from = end * static_cast<double>(i % 10) / 10;
    zoom.add([&] { points += cache.at(runs.back()).read("loss", from, from + end / 20, 1000).size(); });
    again.add([&] { points += cache.at(runs[i]).read("loss", from, from + end / 20, 1000).size(); });
    most_memory = std::max(most_memory, resident_mib());
  }
  zoom.print("zooming into a run in view");
  again.print("zooming into a run out of the cache");
  fmt::print("{:.0f} MiB at most; {} runs in the cache with {:.0f} MiB; {} buckets\n", most_memory, cache.open(),
             static_cast<double>(cache.bytes()) / (1 << 20), points);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "make") {
    make(argv[2], argc > 3 ? std::stoi(argv[3]) : 1000, argc > 4 ? std::stoll(argv[4]) : 100'000);
    return 0;
  }
  if (what == "read") return read(argv[2]), 0;
  fmt::print(stderr, "series make DIR [RUNS] [POINTS], series read DIR\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
