#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/base/options.h"
#include "retrace/cli/output.h"
#include "retrace/cli/settings.h"
#include "retrace/cli/stop_signals.h"
#include "retrace/distributed/launcher.h"
#include "retrace/monitor/sink_kind.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/run_storage.h"

namespace retrace::cli {
namespace {

struct ReplayFlags {
  std::filesystem::path run, data;
  std::string steps;
  JobSettings settings;
  bool json = false, quiet = false;
};

std::string result_text_replay(const ReplayResult& result) {
  if (const auto& found = result.difference)
    return fmt::format("different{}: step {} (epoch {}), {}\n  recorded: {}\n  computed: {}\n",
                       is_fast_mode(result.mode) ? fmt::format(", as the {} allows", mode_mark(result.mode)) : "",
                       found->iteration, found->epoch, printable(found->what), found->recorded, found->computed);
  return fmt::format("{}: steps {} to {}, from {}; {} fingerprints of tensors, {} events{}\n",
                     result.stopped ? "equal so far" : "equal", result.first, result.last,
                     result.begin == 0 ? "the start" : fmt::format("the checkpoint of step {}", result.begin),
                     result.fingerprints, result.events, result.weights ? ", the last weights" : "");
}

Json json_of_replay(const ReplayResult& result) {
  Json difference;
  if (const auto& found = result.difference)
    difference = Json::object({{"iteration", found->iteration},
                               {"epoch", found->epoch},
                               {"what", found->what},
                               {"recorded", found->recorded},
                               {"computed", found->computed}});
  return Json::object({{"job", result.job},
                       {"device", result.device},
                       {"equal", !result.difference && !result.stopped},
                       {"mode", result.mode},
                       {"first", result.first},
                       {"last", result.last},
                       {"checkpoint", result.begin},
                       {"fingerprints", result.fingerprints},
                       {"events", result.events},
                       {"weights", result.weights},
                       {"stopped", result.stopped},
                       {"difference", difference}});
}

// Ranks would each compute all of it.
void refuse_ranks() {
  if (const Launcher launcher = detect_launcher(); launcher.size > 1)
    throw Error(ErrorKind::usage, 398,
                fmt::format("retrace replay under {} with {} ranks", launcher.name, launcher.size))
        .expected("one process")
        .help(fmt::format("leave {} out; --workers N computes with N workers, to the same answer", launcher.name));
}

int replay(const ReplayFlags& flags) {
  refuse_ranks();
  ReplayOptions options{.overrides = overrides_of(flags.settings), .stop = [] { return StopSignals::received() != 0; }};
  if (!flags.steps.empty()) read_steps(flags.steps, options);
  if (!flags.data.empty()) options.overrides.push_back({"data.path", flags.data.string(), "--data"});
  const TerminalOptions view = terminal_options(stderr, terminal_is_dumb());
  const auto write = [](std::string text, bool passing) { standard_error().write(std::move(text), passing); };
  const auto monitor = kind_of(all_sinks(), "terminal", "monitor", {}).make({write, view});
  if (!flags.quiet) options.monitor = monitor.get();
  const StopSignals signals(!flags.quiet, view.rewrite);
  const ReplayResult result = replay_run(flags.run, options);
  finish_standard_error();
  if (flags.json)
    print(json_of_replay(result).text() + "\n");
  else if (!flags.quiet)
    print(result_text_replay(result));
  if (result.stopped) return 128 + StopSignals::received();
  return result.difference ? kDifferent : 0;
}

void describe_replay(Flags& flags) {
  const auto options = std::make_shared<ReplayFlags>();
  flags.argument("RUN", options->run, "run folder", "the run folder");
  flags.option("--steps", "A..B", options->steps, "the steps to compute; without it all that the run recorded");
  flags.option("--threads", "N", options->settings.threads, "number of threads; changes no bit");
  flags.option("--workers", "N", options->settings.workers, "workers that share each mini-batch; changes no bit");
  flags.option("--device", "NAME", options->settings.device, "cpu, cuda (or gpu), cuda:N, auto; changes no bit");
  flags.option("--data", "DIR", options->data, "where the data lie now: short for data.path");
  flags.flag("--json", options->json, "print the result as one JSON object");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings, and the object of --json");
  flags.footer(
      "Begins after the newest checkpoint before A, or at the start, and compares each step with steps.jsonl,\n"
      "fingerprints.txt and metrics.jsonl. Writes nothing. Exit codes: 0 equal, 76 different, 65 a file of the run or\n"
      "of the data changed, 128+N signal N.");
  flags.action([options] {
    options->run = run_on_disk(options->run);
    return replay(*options);
  });
}

}  // namespace

CommandKind replay_command() {
  return {.name = "replay",
          .help = "computes steps of a run again; exit code 0 if equal, 76 if different",
          .describe = describe_replay};
}

}  // namespace retrace::cli
