#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/metric_text.h"
#include "retrace/cli/output.h"
#include "retrace/experiment/importance.h"
#include "retrace/experiment/study.h"
#include "retrace/experiment/trial_request.h"
#include "retrace/experiment/trial_table.h"

namespace retrace::cli {
namespace {

namespace fs = std::filesystem;

struct ExperimentsOptions {
  fs::path study;
  std::string sort;
  std::vector<std::string> filters, states, cancel, restart, notes;
  bool csv = false, json = false, best = false, importance = false;
};

int64_t trial_in(const std::string& text, const char* flag) {
  int64_t trial = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), trial);
  if (failure != std::errc() || end != text.data() + text.size())
    throw Error(ErrorKind::usage, 763, "a trial is named by its number").where(flag).got(printable(text));
  return trial;
}

std::vector<TrialRequest> requests_of(const ExperimentsOptions& options) {
  using What = TrialRequest::What;
  std::vector<TrialRequest> requests;
  for (const auto& text : options.cancel) requests.push_back({What::cancel, trial_in(text, "--cancel")});
  for (const auto& text : options.restart) requests.push_back({What::restart, trial_in(text, "--restart")});
  for (const auto& text : options.notes) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorKind::usage, 763, "a note is written like 7=TEXT").where("--note").got(printable(text));
    requests.push_back({What::note, trial_in(text.substr(0, equals), "--note"), text.substr(equals + 1)});
  }
  return requests;
}

std::string counts_text(const std::vector<TrialRecord>& trials) {
  std::string text;
  for (const auto state : {TrialState::finished, TrialState::pruned, TrialState::diverged, TrialState::failed,
                           TrialState::cancelled, TrialState::stopped, TrialState::running})
    if (const auto count = std::count_if(trials.begin(), trials.end(), [&](const auto& t) { return t.state == state; }))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state_name(state));
  return text;
}

// The studies below a folder.
std::string list_text(const fs::path& folder) {
  std::vector<fs::path> studies;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (fs::exists(study_path(entry.path()), ignored)) studies.push_back(entry.path());
  std::sort(studies.begin(), studies.end());
  std::string text;
  for (const auto& path : studies) {
    const TrialTable table = read_trial_table(path);
    const int64_t best = best_trial(table.trials, table.maximize);
    text += fmt::format("{}: {} trials ({})", printable(path.string()), table.trials.size(), counts_text(table.trials));
    if (best > 0)
      text += fmt::format(", best: trial {}, {} {:.6g}", best, printable(table.objective),
                          table.trials[static_cast<size_t>(best - 1)].value);
    text += is_written(path) ? ", goes on\n" : "\n";
  }
  return text.empty() ? fmt::format("no studies in {}\n", printable(folder.string())) : text;
}

std::string importance_text(const TrialTable& table, bool as_json) {
  const auto found = importance(table);
  if (as_json)
    return Json::list(
               found,
               [](const Importance& one) { return Json::object({{"parameter", one.parameter}, {"share", one.share}}); })
               .text() +
           "\n";
  if (found.empty()) return "too few trials have a result, or all have the same\n";
  std::string text;
  for (const auto& one : found) text += fmt::format("{:5.1f} %  {}\n", 100 * one.share, printable(one.parameter));
  return text;
}

int experiments(const ExperimentsOptions& options) {
  if (options.study.empty()) return print(list_text("experiments")), 0;
  if (const auto requests = requests_of(options); !requests.empty()) request_trials(options.study, requests);
  const TrialTable all = read_trial_table(options.study);
  if (options.best) return print(best_of(all).job), 0;
  if (options.importance) return print(importance_text(all, options.json)), 0;
  TrialTable table = filtered(all, options.filters, options.states);
  if (!options.sort.empty()) sort_trials(table, options.sort);
  print(options.json ? table_json(table) + "\n" : options.csv ? table_csv(table) : table_text(table));
  return 0;
}

void describe_experiments(Flags& flags) {
  const auto options = std::make_shared<ExperimentsOptions>();
  flags.optional("STUDY", options->study, "folder of a study; without it all in experiments/ are listed");
  flags.option("--sort", "COLUMN", options->sort, "by this column, the smallest first; -COLUMN: the largest first");
  flags.repeated("--filter", "CONDITION", options->filters,
                 "trials for which it holds: \"loss < 0.1\"; may be repeated");
  flags.repeated("--state", "STATE", options->states, "trials in this state: finished, pruned, ...; may be repeated");
  flags.repeated("--note", "N=TEXT", options->notes, "the note of trial N");
  flags.repeated("--cancel", "N", options->cancel, "ends trial N for good");
  flags.repeated("--restart", "N", options->restart,
                 "trial N is made anew by the next sweep, or by the one that goes on");
  flags.flag("--best", options->best, "print the job file of the best trial");
  flags.flag("--importance", options->importance, "what each parameter explains of the result by itself");
  flags.flag("--csv", options->csv, "print the table as CSV");
  flags.flag("--json", options->json, "print the table as one JSON object");
  flags.exclude("--csv", "--json");
  flags.action([options] { return experiments(*options); });
}

}  // namespace

CommandKind experiments_command() {
  return {.name = "experiments",
          .help = "the trials of a sweep: a table, its best one, notes",
          .describe = describe_experiments};
}

}  // namespace retrace::cli
