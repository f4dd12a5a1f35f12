#include "retrace/web/run_json.h"

#include <algorithm>
#include <fstream>

#include "retrace/train/mode_names.h"

namespace retrace {
namespace {

const char* text_of(RunState state) {
  switch (state) {
    case RunState::running: return "running";
    case RunState::quiet: return "quiet";
    case RunState::stopped: return "stopped";
    case RunState::finished: return "finished";
    case RunState::events: return "events";
  }
  return "";
}

Json object_of(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<Json::Member> members;
  for (const auto& [name, text] : texts) members.emplace_back(name, text);
  return Json::object(members);
}

// What a loop of a program tells of itself; null for a run.
Json told_json(const std::optional<LoopStanding>& told) {
  if (!told) return {};
  return Json::object({{"progress", told->progress},
                       {"status", told->status},
                       {"x_label", told->x_label},
                       {"info", object_of(told->info)},
                       {"groups", object_of(told->groups)},
                       {"log", Json::list(told->logarithmic, [](const std::string& chart) { return Json(chart); })}});
}

template <class Member>
Json column(const std::vector<SeriesBucket>& buckets, Member SeriesBucket::* member) {
  return Json::list(buckets, [&](const SeriesBucket& bucket) { return Json(bucket.*member); });
}

}  // namespace

Json run_json(const ListedRun& run) {
  const RunStanding& standing = run.standing;
  const int64_t all = standing.epochs * standing.iterations_per_epoch;
  const bool running = run.state == RunState::running;
  // What passed since the last event is not in it.
  const double rate =
      standing.seconds > 0 && standing.iteration > 0 ? static_cast<double>(standing.iteration) / standing.seconds : 0;
  const double seconds = rate > 0 && running ? static_cast<double>(run.iteration) / rate : standing.seconds;
  std::vector<Json::Member> metrics;
  for (const auto& [name, value] : standing.metrics) metrics.emplace_back(name, value);
  return Json::object(
      {{"id", run.number},
       {"name", run.name},
       {"folder", run.folder.string()},
       {"state", text_of(run.state)},
       {"stop_reason", standing.stop_reason},
       {"stop_asked", run.stop_asked},
       {"job", standing.job},
       {"device", standing.device},
       {"workers", standing.workers},
       {"threads", standing.threads},
       {"parameters", standing.parameters},
       {"iteration", run.iteration},
       {"iterations", all},
       {"epoch", standing.iterations_per_epoch > 0
                     ? (run.iteration + standing.iterations_per_epoch - 1) / standing.iterations_per_epoch
                     : standing.epoch},
       {"epochs", standing.epochs},
       {"loss", run.step_loss},
       {"epoch_loss", standing.loss},
       {"validation_loss", standing.validation_loss},
       {"learn_rate", run.learn_rate},
       {"metrics", Json::object(metrics)},
       {"seconds", seconds},
       {"rate", rate},
       {"remaining", running && rate > 0 ? static_cast<double>(std::max<int64_t>(0, all - run.iteration)) / rate : 0.0},
       {"written", run.state == RunState::quiet ? run.written : 0.0},
       {"fingerprint", standing.fingerprint},
       {"mode", standing.mode},
       {"same_as", run.same_as},
       {"told", told_json(standing.told)},
       {"note", run.note}});
}

Json series_json(int run, const std::string& name, const std::vector<SeriesBucket>& buckets) {
  const bool single =
      std::all_of(buckets.begin(), buckets.end(), [](const SeriesBucket& one) { return one.points == 1; });
  return Json::object({{"run", run},
                       {"name", name},
                       {"x", column(buckets, &SeriesBucket::x_first)},
                       {"x_last", column(buckets, &SeriesBucket::x_last)},
                       {"minimum", column(buckets, &SeriesBucket::minimum)},
                       {"maximum", column(buckets, &SeriesBucket::maximum)},
                       {"mean", column(buckets, &SeriesBucket::mean)},
                       {"points", column(buckets, &SeriesBucket::points)},
                       {"single", single}});
}

Json system_json() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  double total = 0, available = 0;
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (double value = 0; file >> name >> value; std::getline(file, unit)) {
    if (name == "MemTotal:") total = value / 1024;
    if (name == "MemAvailable:") available = value / 1024;
  }
  return Json::object({{"load", load}, {"memory_used", total - available}, {"memory", total}});
}

}  // namespace retrace
