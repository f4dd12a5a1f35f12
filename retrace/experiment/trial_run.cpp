#include "retrace/experiment/trial_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/experiment/trial_request.h"

namespace retrace {
namespace {

constexpr int64_t kRequestsEvery = 1'000'000'000;       // nanoseconds
constexpr auto kLook = std::chrono::milliseconds(100);  // between looks at the clock and at who wants to stop

int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double number_in(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

TrialRun::TrialRun(TrialRunner& runner, TrialRecord record, bool again)
    : runner_(runner), record_(std::move(record)), again_(again) {}

void TrialRun::report(int64_t step, double value, int64_t iteration) {
  if (step < 1 || (!record_.reports.empty() && step <= record_.reports.back().step))
    throw Error(ErrorKind::usage, 759, fmt::format("trial {} reports step {}", record_.number, step))
        .expected(record_.reports.empty() ? "steps from 1 on"
                                          : fmt::format("a step after {}", record_.reports.back().step));
  const TrialReport report{step, value, iteration};
  record_.reports.push_back(report);
  const std::lock_guard lock(runner_.mutex_);
  if (runner_.study_) runner_.study_->store(record_.number, report);
  if (!pruned_) pruned_ = runner_.plan_.prunes(record_, runner_.before(record_.number));
  if (runner_.watcher_.reported) runner_.watcher_.reported(record_);
}

void TrialRun::keep_reports(int64_t iteration) {
  auto reports = std::move(record_.reports);
  std::erase_if(reports, [&](const TrialReport& report) { return report.iteration > iteration; });
  record_.reports.clear();
  pruned_ = false;
  const std::lock_guard lock(runner_.mutex_);
  for (const auto& report : reports) {
    record_.reports.push_back(report);
    if (!pruned_) pruned_ = runner_.plan_.prunes(record_, runner_.before(record_.number));
  }
  if (runner_.study_) runner_.study_->store(record_);
}

bool TrialRun::cancelled() const {
  const std::lock_guard lock(runner_.mutex_);
  runner_.look_at_requests();
  return runner_.cancelled_.count(record_.number) > 0;
}

bool TrialRun::should_stop() const {
  return pruned_ || cancelled() || (runner_.watcher_.stop && runner_.watcher_.stop()) ||
         (runner_.plan_.options().time_limit > 0 && runner_.seconds() >= runner_.plan_.options().time_limit);
}

TrialRunner::TrialRunner(const ExperimentPlan& plan, Study* study, ExperimentWatcher watcher)
    : plan_(plan), study_(study), watcher_(std::move(watcher)) {
  if (!study) return;
  take_requests(study->folder());  // what came too late for the process before
  trials_ = study->trials();
  seconds_before_ = number_in(study->text("seconds"));
  for (size_t i = 0; i < trials_.size(); ++i) {
    trials_[i].parameters = plan_.space().typed(trials_[i].parameters);
    if (trials_[i].number != static_cast<int64_t>(i) + 1)
      throw Error(ErrorKind::bad_data, 762, fmt::format("the study has no trial {}", i + 1));
    waiting_.push_back(!has_ended(trials_[i].state));
  }
}

double TrialRunner::seconds() const {
  return seconds_before_ + static_cast<double>(steady_nanoseconds() - began_) * 1e-9;
}

std::vector<const TrialRecord*> TrialRunner::before(int64_t number) const {
  std::vector<const TrialRecord*> found;
  for (int64_t i = 0; i < number - 1; ++i) found.push_back(&trials_[static_cast<size_t>(i)]);
  return found;
}

bool TrialRunner::is_over() {
  return failure_ || (watcher_.stop && watcher_.stop()) ||
         (plan_.options().time_limit > 0 && seconds() >= plan_.options().time_limit);
}

bool TrialRunner::may_begin(int64_t number) const {
  if (!plan_.waits()) return true;
  for (int64_t i = 0; i < number - plan_.options().window; ++i)
    if (!has_ended(trials_[static_cast<size_t>(i)].state)) return false;
  return true;
}

std::optional<TrialRunner::Begun> TrialRunner::next_interrupted() {
  for (size_t i = 0; i < waiting_.size(); ++i) {
    // A trial that waits for others was begun after they had ended, unless one of them was restarted since.
    if (!waiting_[i] || !may_begin(trials_[i].number)) continue;
    waiting_[i] = false;
    trials_[i].state = TrialState::running;
    return Begun{trials_[i], true};
  }
  return std::nullopt;
}

std::optional<TrialRunner::Begun> TrialRunner::next_new() {
  const int64_t number = static_cast<int64_t>(trials_.size()) + 1;
  if (exhausted_ || !may_begin(number)) return std::nullopt;
  const auto values = plan_.suggest(number, before(number));
  exhausted_ = !values;
  if (!values) return std::nullopt;
  TrialRecord record{.number = number, .parameters = *values, .seed = plan_.seed_of(number)};
  record.value = std::numeric_limits<double>::quiet_NaN();
  if (study_) study_->store(record);
  trials_.push_back(record);
  waiting_.push_back(false);
  return Begun{std::move(record), false};
}

// The next trial; nothing when no more will come.
std::optional<TrialRunner::Begun> TrialRunner::next() {
  std::unique_lock lock(mutex_);
  while (!is_over()) {
    look_at_requests();
    auto begun = next_interrupted();
    const bool more = plan_.trials() == 0 || static_cast<int64_t>(trials_.size()) < plan_.trials();
    if (!begun && more) begun = next_new();
    if (begun) {
      running_.insert(begun->record.number);
      if (watcher_.began) watcher_.began(begun->record);
      return begun;
    }
    const bool waits = std::find(waiting_.begin(), waiting_.end(), true) != waiting_.end();
    if (!waits && (!more || exhausted_)) return std::nullopt;
    changed_.wait_for(lock, kLook);
  }
  return std::nullopt;
}

void TrialRunner::end(TrialRun& run) {
  const std::lock_guard lock(mutex_);
  TrialRecord& record = run.record();
  running_.erase(record.number);
  if (cancelled_.erase(record.number) > 0 && record.state == TrialState::stopped) record.state = TrialState::cancelled;
  record.note = trials_[static_cast<size_t>(record.number - 1)].note;
  if (study_) {
    study_->store(record);
    study_->set_text("seconds", fmt::format("{}", seconds()));
  }
  trials_[static_cast<size_t>(record.number - 1)] = record;
  if (watcher_.ended) watcher_.ended(record);
  changed_.notify_all();
}

void TrialRunner::look_at_requests() {
  const int64_t now = steady_nanoseconds();
  if (!study_ || now - looked_ < kRequestsEvery) return;
  looked_ = now;
  for (const auto& request : take_requests(study_->folder())) {
    const auto index = static_cast<size_t>(request.trial - 1);
    if (index >= trials_.size() || !fits(request, trials_[index].state)) continue;
    if (request.what == TrialRequest::What::cancel && running_.count(request.trial) > 0) {
      cancelled_.insert(request.trial);
      continue;
    }
    apply(request, trials_[index], study_->folder());
    waiting_[index] = trials_[index].state == TrialState::stopped;
    if (running_.count(request.trial) == 0) study_->store(trials_[index]);
  }
}

void TrialRunner::loop(const std::function<void(TrialRun& trial)>& function) {
  try {
    while (auto begun = next()) {
      TrialRun run(*this, std::move(begun->record), begun->again);
      const int64_t begin = steady_nanoseconds();
      function(run);
      run.record().seconds += static_cast<double>(steady_nanoseconds() - begin) * 1e-9;
      end(run);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    changed_.notify_all();
  }
}

ExperimentResult TrialRunner::run(const std::function<void(TrialRun& trial)>& function) {
  began_ = steady_nanoseconds();
  std::vector<std::thread> threads;
  for (int i = 1; i < plan_.options().simultaneous; ++i) threads.emplace_back([&] { loop(function); });
  loop(function);
  for (auto& thread : threads) thread.join();
  if (failure_) std::rethrow_exception(failure_);
  ExperimentResult result{.trials = trials_};
  const bool ended =
      std::all_of(trials_.begin(), trials_.end(), [](const auto& trial) { return has_ended(trial.state); });
  result.complete =
      ended && (exhausted_ || (plan_.trials() > 0 && static_cast<int64_t>(trials_.size()) >= plan_.trials()));
  result.best = best_trial(trials_, plan_.options().maximize);
  return result;
}

}  // namespace retrace
