#include "retrace/experiment/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "retrace/base/file.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/cli/settings.h"
#include "retrace/cli/stop_signals.h"
#include "retrace/experiment/trial_table.h"

namespace retrace::cli {
namespace {

constexpr int kInterrupted = 75, kTrialsFailed = 1;

struct SweepOptions {
  std::filesystem::path file, out;
  std::string simultaneous;
  JobSettings settings;
  bool json = false, quiet = false;
};

int count_of(const std::string& text) {
  int count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc() || end != text.data() + text.size() || count < 1)
    throw Error(ErrorKind::usage, 765, "the number of simultaneous trials must be 1 or more")
        .where("--simultaneous")
        .got(printable(text));
  return count;
}

// "trial 3 of 50: finished, loss 0.0234, 2.1 s; training.initial_learn_rate = 0.01"
std::string trial_text(const TrialRecord& trial, const Sweep& sweep) {
  std::string text = fmt::format("trial {}{}: {}", trial.number,
                                 sweep.trials > 0 ? fmt::format(" of {}", sweep.trials) : "", state_name(trial.state));
  if (!std::isnan(trial.value)) text += fmt::format(", {} {:.6g}", sweep.objective, trial.value);
  if (has_ended(trial.state)) text += fmt::format(", {:.1f} s", trial.seconds);
  std::string values;
  for (const auto& [name, value] : trial.parameters)
    values += fmt::format("{}{} = {}", values.empty() ? "; " : ", ", name, value_text(value));
  text += printable(values);
  return trial.error.empty() ? text : text + "\n  " + printable(trial.error.substr(0, trial.error.find('\n')));
}

int exit_code_of_sweep(const ExperimentResult& result) {
  if (StopSignals::received() && !result.complete) return kInterrupted;
  const auto failed = [](const TrialRecord& trial) { return trial.state == TrialState::failed; };
  return std::any_of(result.trials.begin(), result.trials.end(), failed) ? kTrialsFailed : 0;
}

std::string ending_text_sweep(const ExperimentResult& result, const SweepOptions& options) {
  if (result.complete) return "";
  const std::string again = fmt::format("retrace sweep {}", printable(options.file.string()));
  if (StopSignals::received()) return fmt::format("stopped by a signal; go on with: {}", again);
  return fmt::format("the time limit is reached; with a larger time_limit it goes on: {}", again);
}

int sweep(const SweepOptions& options) {
  const ExperimentFile file = read_experiment(options.file);
  SweepControl control{.out = options.out, .overrides = overrides_of(options.settings)};
  if (!options.simultaneous.empty()) control.simultaneous = count_of(options.simultaneous);
  const Sweep what = sweep_of(file, control);
  const auto tell = [&](const TrialRecord& trial) {
    if (!options.quiet) standard_error().write(trial_text(trial, what) + "\n", false);
  };
  control.watcher = {.ended = tell, .stop = [] { return StopSignals::received() != 0; }};
  const StopSignals signals(true, false);
  const ExperimentResult result = run_sweep(file, control);
  finish_standard_error();
  const TrialTable table{what.objective, what.maximize, result.trials};
  if (options.json)
    print(table_json(table) + "\n");
  else if (!options.quiet)
    print(table_text(table));
  if (const std::string text = ending_text_sweep(result, options); !text.empty()) complain(text);
  return exit_code_of_sweep(result);
}

void describe_sweep(Flags& flags) {
  const auto options = std::make_shared<SweepOptions>();
  flags.argument("EXPERIMENT", options->file, "file of an experiment (TOML)", "the file of the experiment");
  flags.option("--simultaneous", "N", options->simultaneous, "trials at once; changes no result");
  flags.option("--workers", "N", options->settings.workers, "workers of each trial; changes no result");
  flags.option("--threads", "N", options->settings.threads, "threads of each worker; changes no result");
  flags.option("--device", "NAME", options->settings.device, "cpu, cuda (or gpu), cuda:N, auto");
  flags.option("--data", "DIR", options->settings.data, "where the job's data lie");
  flags.option("--out", "DIR", options->out, "folder of the study; without it experiments/NAME");
  flags.flag("--json", options->json, "print all trials as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings, and the object of --json");
  flags.footer(
      "A study that is there goes on: trials that were broken off from their newest checkpoints, to the same results.\n"
      "Exit codes: 0 all trials ended, or the time limit is reached; 1 trials failed; 75 ended by a signal, goes on "
      "with\n"
      "the same command; 2 usage, experiment or job; 65 bad data, 66 input missing, 69 no SQLite, 74 output failed.");
  flags.action([options] { return sweep(*options); });
}

}  // namespace

CommandKind sweep_command() {
  return {.name = "sweep", .help = "train a job with many settings, and find the best one", .describe = describe_sweep};
}

}  // namespace retrace::cli
