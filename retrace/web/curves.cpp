#include "retrace/web/curves.h"

#include <algorithm>
#include <limits>

#include "retrace/base/error.h"
#include "retrace/web/request_numbers.h"
#include "retrace/web/run_json.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostBuckets = 2000, kBuckets = 500, kMostKept = 8 << 20, kMostAnswers = 1000;

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(between, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Calls use(run, source) for each run of the request that is there.
template <class Use>
void for_each_run(const RunList& list, const WebRequest& request, SeriesCache& cache, const Use& use) {
  for (const std::string& number : parts_of(request.parameter("runs"), ',')) {
    const ListedRun* const run = list.find(number_from<int64_t>(number, 0));
    if (!run) continue;
    try {
      use(*run, cache.at(run->folder));
    } catch (const Error&) {  // it is removed
    }
  }
}

}  // namespace

std::string Curves::series(const RunList& list, const WebRequest& request) {
  return kept(request, [&] {
    constexpr double kAll = std::numeric_limits<double>::infinity();
    const double from = number_in(request, "from", -kAll), to = number_in(request, "to", kAll);
    const size_t most = std::min(number_in<size_t>(request, "most", kBuckets), kMostBuckets);
    const auto names = parts_of(request.parameter("names"), '\n');
    auto skip = number_in<size_t>(request, "skip", 0);
    std::vector<Json> found;
    for_each_run(list, request, cache_, [&](const ListedRun& run, SeriesSource& source) {
      for (const auto& info : source.list()) {
        if (!names.empty() && std::find(names.begin(), names.end(), info.name) == names.end()) continue;
        if (skip > 0)
          --skip;
        else if (found.size() < kMostSeries)
          found.push_back(series_json(run.number, info.name, source.read(info.name, from, to, most)));
      }
    });
    return Json::list(found).text();
  });
}

const std::string& Curves::kept(const WebRequest& request, const std::function<std::string()>& make) {
  std::string key = request.path;
  for (const auto& [name, value] : request.query) key += '\0' + name + '\0' + value;
  const auto now = Clock::now();
  if (const auto found = answers_.find(key); found != answers_.end()) {
    if (now - found->second.made < std::chrono::seconds(1)) return found->second.text;
    bytes_ -= found->second.text.size();
    answers_.erase(found);
  }
  if (bytes_ > kMostKept || answers_.size() >= kMostAnswers) forget();
  Answer answer{make(), now};
  bytes_ += answer.text.size();
  return answers_.emplace(std::move(key), std::move(answer)).first->second.text;
}

}  // namespace retrace
