#pragma once
// The curves of many runs within a bound of memory.

#include <filesystem>
#include <list>
#include <memory>
#include <unordered_map>

#include "retrace/report/series.h"

namespace retrace {

// run_series() of a folder that holds a run, else event_series() of one that holds event files. Errors: missing, for a
// folder that holds neither.
std::unique_ptr<SeriesSource> open_series(const std::filesystem::path& folder);

// Sources by their folders. Those that were not asked for the longest are closed as soon as all hold more than the
// bound; they are read again when somebody asks: 20 ms for 100,000 steps. One thread at a time.
class SeriesCache {
 public:
  explicit SeriesCache(size_t most_bytes = size_t{96} << 20) : most_bytes_(most_bytes) {}

  // The source of the folder with all that is written now; it stays until the next call. Errors: as open_series().
  SeriesSource& at(const std::filesystem::path& folder);
  // The memory that all sources hold.
  size_t bytes() const { return bytes_; }
  size_t open() const { return sources_.size(); }

 private:
  struct Entry {
    std::string folder;
    std::unique_ptr<SeriesSource> source;
    size_t bytes = 0;
  };
  const size_t most_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> sources_;  // the one that was asked for last is the first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
};

}  // namespace retrace
