#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "retrace/base/file.h"
#include "retrace/base/options.h"
#include "retrace/cli/cli.h"
#include "retrace/cli/output.h"
#include "retrace/cli/settings.h"
#include "retrace/distributed/launcher.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/monitor/terminal.h"
#include "retrace/train/train_job.h"

namespace retrace::cli {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

// The first signal ends the run after the current iteration; the second one ends the process at once.
void on_signal(int number) {
  if (stop_signal) std::_Exit(128 + number);
  stop_signal = number;
}

class SignalScope {
 public:
  SignalScope() : interrupt_(std::signal(SIGINT, on_signal)), terminate_(std::signal(SIGTERM, on_signal)) {
    stop_signal = 0;
  }
  ~SignalScope() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGTERM, terminate_);
  }

 private:
  void (*interrupt_)(int);
  void (*terminate_)(int);
};

// Of this program alone; the peak that getrusage() knows includes whatever the process was before exec.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    const size_t digits = std::min(line.find_first_of("0123456789"), line.size());
    int64_t kibibytes = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), kibibytes);
    return static_cast<double>(kibibytes) / 1024;
  }
  return 0;
}

std::string result_json(const TrainJobResult& result) {
  return fmt::format(
      "{{\"job\":{},\"device\":{},\"workers\":{},\"threads\":{},\"epochs\":{},\"iterations\":{},\"seconds\":{},"
      "\"loss\":{},"
      "\"metrics\":{},"
      "\"fingerprint\":{},\"peak_mib\":{},\"run_dir\":{},\"stop_reason\":{}}}\n",
      json_text(result.job), json_text(result.device), result.workers, result.threads, result.epochs, result.iterations,
      json_number(result.seconds), json_number(result.loss), json_metrics(result.metrics),
      json_text(result.fingerprint), json_number(peak_mib()), json_text(result.run_dir.string()),
      json_text(result.stop_reason));
}

std::string result_text(const TrainJobResult& result) {
  std::string text =
      fmt::format("{} epoch{}, {} iterations, {:.1f} seconds, {}\ntest set: loss {:.6g}", result.epochs,
                  result.epochs == 1 ? "" : "s", result.iterations, result.seconds, result.stop_reason, result.loss);
  for (const auto& [name, value] : result.metrics) text += fmt::format(", {} {:.6g}", name, value);
  return text + fmt::format("\nfingerprint {}\nrun {}\n", result.fingerprint, printable(result.run_dir.string()));
}

// Of --workers.
int workers_of(const std::string& text) {
  constexpr int kMost = 256;
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc() && end == text.data() + text.size() && n >= 1 && n <= kMost) return n;
  throw Error(ErrorKind::usage, 704, fmt::format("--workers \"{}\" is no number of workers", printable(text)))
      .expected(fmt::format("a whole number from 1 to {}", kMost));
}

// The ranks of mpirun or srun, or threads of this process.
Pool make_pool(const std::string& workers) {
  const Launcher launcher = detect_launcher();
  if (launcher.size == 1) return Pool::local(workers.empty() ? 1 : workers_of(workers));
  if (!workers.empty())
    throw Error(ErrorKind::usage, 705, fmt::format("--workers under {}", launcher.name))
        .help(fmt::format("the {} ranks are the workers: leave --workers out", launcher.size));
  if (const std::string hint = launcher_hint(); launcher.rank == 0 && !hint.empty()) complain(hint);
  return Pool::from_environment();
}

}  // namespace

int train(const TrainOptions& options) {
  const Job job = read_job(options.job, overrides_of(options.settings));
  Pool pool = make_pool(options.workers);
  Terminal terminal(stderr, terminal_options(stderr, terminal_is_dumb()));
  const SignalScope signals;
  const auto result = train_job(
      job, {.pool = &pool, .out = options.out, .monitor = &terminal, .stop = [] { return stop_signal != 0; }});
  if (pool.is_first()) print(options.json ? result_json(result) : result_text(result));
  if (!stop_signal) return 0;
  if (pool.is_first())
    complain(fmt::format("stopped by {}; this version writes no checkpoint to resume from",
                         stop_signal == SIGINT ? "SIGINT" : "SIGTERM"));
  return 128 + stop_signal;
}

}  // namespace retrace::cli
