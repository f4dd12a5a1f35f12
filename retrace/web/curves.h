#pragma once
// The curves of runs, for the charts of pages.

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "retrace/report/series_cache.h"
#include "retrace/web/http_message.h"
#include "retrace/web/run_list.h"

namespace retrace {

// Answers of which many pages ask for the same are made once: each is kept for a second, or until there is something
// new. One thread at a time.
class Curves {
 public:
  // /api/series?runs=1,2&names=loss%0Arate&from=0&to=9&most=500&skip=64: {run, name, x, ...} for each series of these
  // runs, without `names` for all of them. Only kMostSeries after those that are skipped.
  std::string series(const RunList& list, const WebRequest& request);
  // The runs have something new: what is asked for from now on is made anew.
  void forget() { answers_.clear(), bytes_ = 0; }

  static constexpr size_t kMostSeries = 64;

 private:
  struct Answer {
    std::string text;
    std::chrono::steady_clock::time_point made;
  };
  const std::string& kept(const WebRequest& request, const std::function<std::string()>& make);

  SeriesCache cache_;
  std::map<std::string, Answer> answers_;
  size_t bytes_ = 0;  // of the answers
};

}  // namespace retrace
