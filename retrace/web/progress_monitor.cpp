#include "retrace/web/progress_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "retrace/base/json.h"
#include "retrace/monitor/background.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/stop_request.h"
#include "retrace/web/run_server.h"

namespace retrace {
namespace {

constexpr size_t kMostName = 200, kMostWaiting = size_t{64} << 20;
// The fields are written again behind so many bytes: a reader looks at the end of the file alone.
constexpr size_t kFieldsEvery = 4 << 10;

// A name of a metric.
void check_name(const std::string& name, Place place) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_good = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '/'; };
  if (!name.empty() && name.size() <= kMostName && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_good))
    return;
  throw Error(ErrorKind::usage, 785, "this is no name of a metric")
      .where(place)
      .got("\"" + printable(name) + "\"")
      .expected("a letter, then letters, digits, _ and /");
}

void check_folder_name(const std::string& name, Place place) {
  if (!name.empty() && name.size() <= kMostName && name[0] != '.' && name.find('/') == std::string::npos &&
      printable(name) == name)
    return;
  throw Error(ErrorKind::usage, 789, "this is no name of a monitor")
      .where(place)
      .got("\"" + printable(name) + "\"")
      .expected("a name for a folder");
}

Json strings(const std::vector<std::string>& texts) {
  return Json::list(texts, [](const std::string& text) { return Json(text); });
}

}  // namespace

struct TrainingProgressMonitor::State {
  State(const ProgressMonitorOptions& options, RunFolder made)
      : folder(std::move(made)), name(options.name), x_label(options.x_label), writer([this] { write(); }) {}

  // Called with the mutex held.
  void change() { fields_changed = true; }
  void add_line(std::string line) {
    if (waiting.size() + line.size() > kMostWaiting) return;  // the disk stands still: what is in memory stays
    waiting += line + '\n';
  }

  std::string fields() const {
    std::vector<Json::Member> values, titles;
    for (const auto& [field, text] : info) values.emplace_back(field, text);
    for (const auto& [metric, title] : groups) titles.emplace_back(metric, title);
    const std::vector<std::string> log_charts(logarithmic.begin(), logarithmic.end());
    return Json::object({{"event", "fields"},
                         {"job", name},
                         {"x_label", x_label},
                         {"progress", progress},
                         {"status", status},
                         {"seconds", seconds()},
                         {"info", Json::object(values)},
                         {"groups", Json::object(titles)},
                         {"log", strings(log_charts)}})
        .text();
  }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); }

  // On the writer's thread.
  void write() {
    std::string lines;
    {
      const std::lock_guard lock(mutex);
      lines.swap(waiting);
      since_fields += lines.size();
      if (fields_changed || since_fields > kFieldsEvery) lines += fields() + '\n', since_fields = 0;
      fields_changed = false;
      if (ends) lines += Json::object({{"event", "ended"}, {"seconds", seconds()}}).text() + '\n';
    }
    if (lines.empty()) return;
    lines.pop_back();
    try {
      folder.metrics().append(lines);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      if (trouble.empty()) trouble = error.message();
    }
  }

  RunFolder folder;
  const std::string name, x_label;
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  StopRequests requests;
  std::optional<RunServer> page;

  mutable std::mutex mutex;  // of what follows
  std::map<std::string, std::vector<std::pair<double, double>>> series;
  std::vector<std::pair<std::string, std::string>> info;
  std::map<std::string, std::string> groups;  // metric to title
  std::set<std::string> logarithmic;
  double progress = 0;
  std::string status = "running", waiting, trouble;
  bool fields_changed = true, ends = false;
  size_t since_fields = 0;
  Background writer;  // last: it ends first
};

TrainingProgressMonitor::TrainingProgressMonitor(const ProgressMonitorOptions& options, Place place) {
  check_folder_name(options.name, place);
  std::set<std::string> names;
  for (const std::string& metric : options.metrics) {
    check_name(metric, place);
    if (!names.insert(metric).second)
      throw Error(ErrorKind::usage, 786, "two metrics have one name").where(place).got("\"" + metric + "\"");
  }
  RunFolder folder =
      RunFolder::create({options.name, "training.toml", "# a loop of a program, which told of its progress\n"},
                        current_versions("cpu"), options.out);
  state_ = Owned(new State(options, std::move(folder)));
  for (const std::string& metric : options.metrics) state_->series[metric];
  for (const std::string& field : options.info) state_->info.emplace_back(field, "");
  RunStarted started;
  started.run_dir = this->folder();
  state_->requests.receive(started);
  if (options.page) state_->page.emplace(RunServerOptions{.runs = {this->folder()}, .port = options.port});
  state_->writer.ask();
}

TrainingProgressMonitor::~TrainingProgressMonitor() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = state_->fields_changed = true;
  }
  state_->writer.ask();
  state_->writer.wait();
  state_->requests.receive(RunFinished());
}

void TrainingProgressMonitor::record_metrics(double step, const MetricValues& values, Place place) {
  if (!std::isfinite(step))
    throw Error(ErrorKind::usage, 787, "a step of a monitor is a finite number")
        .where(place)
        .got(fmt::format("{}", step));
  for (const auto& [name, value] : values) check_name(name, place);
  std::vector<Json::Member> members;
  for (const auto& [name, value] : values) members.emplace_back(name, value);
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [name, value] : values) state_->series[name].emplace_back(step, value);
    state_->add_line(Json::object({{"event", "record"}, {"x", step}, {"values", Json::object(members)}}).text());
  }
  state_->writer.ask();
}

void TrainingProgressMonitor::update_info(const std::vector<std::pair<std::string, std::string>>& fields, Place) {
  {
    const std::lock_guard lock(state_->mutex);
    for (const auto& [field, text] : fields) {
      const auto found =
          std::find_if(state_->info.begin(), state_->info.end(), [&](const auto& one) { return one.first == field; });
      if (found == state_->info.end())
        state_->info.emplace_back(field, text);
      else
        found->second = text;
    }
    state_->change();
  }
  state_->writer.ask();
}

void TrainingProgressMonitor::group(const std::string& title, const std::vector<std::string>& metrics) {
  const std::lock_guard lock(state_->mutex);
  for (const std::string& metric : metrics) state_->groups[metric] = title;
  state_->change();
}

void TrainingProgressMonitor::set_log_scale(const std::string& chart, bool on) {
  const std::lock_guard lock(state_->mutex);
  on ? void(state_->logarithmic.insert(chart)) : void(state_->logarithmic.erase(chart));
  state_->change();
}

void TrainingProgressMonitor::set_progress(double percent, Place place) {
  if (!(percent >= 0 && percent <= 100))
    throw Error(ErrorKind::usage, 788, "progress is in per cent")
        .where(place)
        .got(fmt::format("{}", percent))
        .expected("0 to 100");
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->progress == percent) return;
    state_->progress = percent;
    state_->change();
  }
  state_->writer.ask();
}

void TrainingProgressMonitor::set_status(const std::string& status) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->status = status;
    state_->change();
  }
  state_->writer.ask();
}

bool TrainingProgressMonitor::stop() const { return state_->requests.received(); }
std::string TrainingProgressMonitor::url() const { return state_->page ? state_->page->url() : ""; }
std::string TrainingProgressMonitor::folder() const { return state_->folder.path().string(); }
double TrainingProgressMonitor::seconds() const { return state_->seconds(); }

std::vector<std::pair<double, double>> TrainingProgressMonitor::data(const std::string& metric) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->series.find(metric);
  return found == state_->series.end() ? std::vector<std::pair<double, double>>() : found->second;
}

std::string TrainingProgressMonitor::trouble() const {
  const std::lock_guard lock(state_->mutex);
  return state_->trouble;
}

}  // namespace retrace
