#include "retrace/experiment/trial_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/experiment/plan.h"
#include "retrace/experiment/study.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr const char* kRequests[] = {"cancel", "restart", "note"};
constexpr uint64_t kLongestRequest = 100'000;

const char* name_of(TrialRequest::What what) { return kRequests[static_cast<size_t>(what)]; }

fs::path request_folder(const fs::path& folder) { return folder / "requests"; }

// "cancel 7 text"; nothing for what is no request.
std::optional<TrialRequest> request_in(const std::string& line) {
  const size_t first = line.find(' '), second = std::min(line.find(' ', first + 1), line.size());
  const auto* name = std::find(std::begin(kRequests), std::end(kRequests), line.substr(0, first));
  if (first == std::string::npos || name == std::end(kRequests)) return std::nullopt;
  TrialRequest request{.what = static_cast<TrialRequest::What>(name - std::begin(kRequests))};
  std::from_chars(line.data() + first + 1, line.data() + second, request.trial);
  if (second < line.size()) request.text = line.substr(second + 1);
  return request;
}

void leave_request(const fs::path& folder, const TrialRequest& request) {
  std::error_code failure;
  fs::create_directories(request_folder(folder), failure);
  if (failure) throw write_failed(request_folder(folder), failure.value());
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  write_file_whole(request_folder(folder) / fmt::format("{:020}-{}", now, ::getpid()),
                   fmt::format("{} {} {}", name_of(request.what), request.trial, request.text));
}

void check(const TrialRequest& request, const std::vector<TrialRecord>& trials) {
  if (request.trial < 1 || request.trial > static_cast<int64_t>(trials.size()))
    throw Error(ErrorKind::usage, 755, fmt::format("the study has no trial {}", request.trial))
        .expected(trials.empty() ? "it has none yet" : fmt::format("1 to {}", trials.size()));
  const TrialState state = trials[static_cast<size_t>(request.trial - 1)].state;
  if (!fits(request, state))
    throw Error(
        ErrorKind::usage, 755,
        fmt::format("trial {} is {}: there is nothing to {}", request.trial, state_name(state), name_of(request.what)));
}

}  // namespace

bool fits(const TrialRequest& request, TrialState state) {
  if (request.what == TrialRequest::What::cancel) return !has_ended(state);
  return request.what == TrialRequest::What::note || has_ended(state);
}

void apply(const TrialRequest& request, TrialRecord& trial, const fs::path& folder) {
  if (request.what == TrialRequest::What::note) {
    trial.note = request.text;
  } else if (request.what == TrialRequest::What::cancel) {
    trial.state = TrialState::cancelled;
  } else {
    trial = {.number = trial.number,
             .state = TrialState::stopped,
             .parameters = trial.parameters,
             .seed = trial.seed,
             .value = std::numeric_limits<double>::quiet_NaN(),
             .note = trial.note};
    fs::remove_all(trial_folder(folder, trial.number));
  }
}

void request_trials(const fs::path& folder, const std::vector<TrialRequest>& requests) {
  const auto trials = Study(folder, Study::Use::read).trials();
  for (const auto& request : requests) check(request, trials);
  if (is_written(folder)) {
    for (const auto& request : requests) leave_request(folder, request);
    return;
  }
  Study study(folder, Study::Use::write);
  auto now = study.trials();
  for (const auto& request : requests) {
    check(request, now);
    TrialRecord& trial = now[static_cast<size_t>(request.trial - 1)];
    apply(request, trial, folder);
    study.store(trial);
  }
}

std::vector<TrialRequest> take_requests(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(request_folder(folder), ignored))
    if (!entry.path().filename().string().ends_with(".partial")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<TrialRequest> requests;
  for (const auto& file : files) {
    if (const auto request = request_in(read_file_start(file, "request", kLongestRequest)))
      requests.push_back(*request);
    fs::remove(file, ignored);
  }
  return requests;
}

}  // namespace retrace
