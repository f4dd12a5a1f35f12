#include "retrace/report/event_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "retrace/base/file.h"
#include "retrace/monitor/event_record.h"
#include "retrace/report/growing_file.h"
#include "retrace/report/named_series.h"

namespace retrace {
namespace {

namespace fs = std::filesystem;

bool is_event_file(const fs::path& path) { return path.filename().string().starts_with("events.out.tfevents."); }

std::set<fs::path> event_files(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (is_event_file(entry->path()) && entry->is_regular_file(failure)) files.insert(entry->path());
  return files;
}

class EventSeries : public SeriesSource {
 public:
  explicit EventSeries(fs::path folder) : folder_(std::move(folder)) {}

  bool refresh() override {
    bool changed = read_files(), restarted = anew_;
    // What was read cannot be told apart by files: all are read again.
    for (int tries = 0; anew_ && tries < 3; ++tries) {
      anew_ = false, series_.clear(), damaged_.clear();
      for (auto& [path, file] : files_) file.rewind();
      read_files();
    }
    anew_ = false;
    return changed || restarted;
  }

  std::vector<SeriesInfo> list() override {
    std::vector<SeriesInfo> list;
    series_.append_to(list);
    return list;
  }

  std::vector<SeriesBucket> read(const std::string& name, double x_from, double x_to, size_t most) override {
    SeriesPoints* points = series_.find(name);
    return points ? points->read(x_from, x_to, most) : std::vector<SeriesBucket>();
  }

  size_t bytes() const override { return series_.bytes() + sizeof *this; }

  std::string trouble() const override {
    if (damaged_.empty()) return {};
    const std::string name = printable(damaged_.begin()->filename().string());
    return damaged_.size() == 1 ? fmt::format("{} is damaged: what follows is left out", name)
                                : fmt::format("{} and {} more files are damaged", name, damaged_.size() - 1);
  }

 private:
  bool read_files() {
    bool changed = false;
    for (const auto& path : event_files(folder_)) {
      GrowingFile& file = files_.try_emplace(path, path).first->second;
      const auto take = [&](std::string_view bytes) { return take_records(path, bytes); };
      changed = file.refresh(take, [this] { anew_ = true; }) || changed;
    }
    return changed;
  }

  size_t take_records(const fs::path& path, std::string_view bytes) {
    const size_t before = bytes.size();
    while (!damaged_.contains(path)) {
      const EventFrame frame = retrace::take_event(bytes);
      if (frame.damaged) damaged_.insert(path);
      if (!frame.record) break;
      const auto step = static_cast<double>(frame.record->step);
      if (frame.record->begins) series_.cut(step);
      for (const auto& [tag, value] : frame.record->scalars) series_.add(tag, step, value);
    }
    return damaged_.contains(path) ? before : before - bytes.size();
  }

  const fs::path folder_;
  std::map<fs::path, GrowingFile> files_;
  std::set<fs::path> damaged_;
  NamedSeries series_;
  bool anew_ = false;
};

}  // namespace

bool holds_events(const fs::path& folder) {
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (is_event_file(entry->path()) && entry->is_regular_file(failure)) return true;
  return false;
}

std::unique_ptr<SeriesSource> event_series(const fs::path& folder) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) throw missing_path(folder, "run folder");
  return std::make_unique<EventSeries>(folder);
}

}  // namespace retrace
