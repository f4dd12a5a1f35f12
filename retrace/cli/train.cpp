#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>

#include "retrace/base/error.h"
#include "retrace/cli/cli.h"
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
  SignalScope() {
    stop_signal = 0;
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    std::signal(SIGPIPE, SIG_IGN);  // a closed standard output is an error with a text
  }
  ~SignalScope() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  }
};

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

std::string result_json(const TrainJobResult& result) {
  return fmt::format(
      "{{\"job\":{},\"device\":{},\"threads\":{},\"epochs\":{},\"iterations\":{},\"seconds\":{},\"loss\":{},\"metrics\":{},"
      "\"fingerprint\":{},\"peak_mib\":{},\"run_dir\":{},\"stop_reason\":{}}}\n",
      json_text(result.job), json_text(result.device), result.threads, result.epochs, result.iterations,
      json_number(result.seconds), json_number(result.loss), json_metrics(result.metrics), json_text(result.fingerprint),
      json_number(peak_mib()), json_text(result.run_dir.string()), json_text(result.stop_reason));
}

std::string result_text(const TrainJobResult& result) {
  std::string text = fmt::format("{} epochs, {} iterations, {:.1f} seconds, {}\ntest set: loss {:.6g}", result.epochs,
                                 result.iterations, result.seconds, result.stop_reason, result.loss);
  for (const auto& [name, value] : result.metrics) text += fmt::format(", {} {:.6g}", name, value);
  return text + fmt::format("\nfingerprint {}\nrun {}\n", result.fingerprint, result.run_dir.string());
}

}  // namespace

int train(const TrainOptions& options) {
  std::vector<JobOverride> overrides;
  for (const auto& setting : options.settings) overrides.push_back(parse_override(setting));
  if (options.threads > 0) overrides.push_back({"threads", std::to_string(options.threads), "--threads"});
  if (!options.device.empty()) overrides.push_back({"device", options.device, "--device"});
  if (!options.seed.empty()) overrides.push_back({"seed", options.seed, "--seed"});
  const Job job = read_job(options.job, overrides);
  Terminal terminal(stderr, terminal_options(stderr));
  const SignalScope signals;
  const auto result = train_job(job, {.out = options.out, .monitor = &terminal, .stop = [] { return stop_signal != 0; }});
  print(options.json ? result_json(result) : result_text(result));
  if (stop_signal) return 128 + stop_signal;  // no checkpoint was written
  return 0;
}

}  // namespace retrace::cli
