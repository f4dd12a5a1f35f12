#include "retrace/report/series_cache.h"

#include <system_error>

#include "retrace/report/event_series.h"
#include "retrace/report/run_series.h"

namespace retrace {

std::unique_ptr<SeriesSource> open_series(const std::filesystem::path& folder) {
  std::error_code failure;
  for (const char* name : {"metrics.jsonl", "job.toml", "training.toml"})
    if (std::filesystem::exists(folder / name, failure)) return run_series(folder);
  return holds_events(folder) ? event_series(folder) : run_series(folder);
}

SeriesSource& SeriesCache::at(const std::filesystem::path& folder) {
  const auto place = places_.find(folder.string());
  if (place != places_.end()) {
    sources_.splice(sources_.begin(), sources_, place->second);
  } else {
    sources_.push_front({folder.string(), open_series(folder), 0});
    places_[folder.string()] = sources_.begin();
  }
  Entry& entry = sources_.front();
  entry.source->refresh();
  bytes_ -= entry.bytes;
  entry.bytes = entry.source->bytes();
  bytes_ += entry.bytes;
  while (bytes_ > most_bytes_ && sources_.size() > 1) {
    bytes_ -= sources_.back().bytes;
    places_.erase(sources_.back().folder);
    sources_.pop_back();
  }
  return *entry.source;
}

}  // namespace retrace
