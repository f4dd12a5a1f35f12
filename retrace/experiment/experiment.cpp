#include "retrace/experiment/experiment.h"

#include <cmath>

#include "retrace/base/error.h"
#include "retrace/experiment/trial_run.h"

namespace retrace {
namespace {

// What the function made of a trial.
void make_trial(TrialRun& run, const std::function<double(Trial&)>& function) {
  TrialRecord& record = run.record();
  if (run.again()) run.keep_reports(-1);
  try {
    Trial trial(run);
    record.value = function(trial);
    const bool stops = run.should_stop();
    record.state = run.pruned() ? TrialState::pruned : stops ? TrialState::stopped : TrialState::finished;
    if (run.pruned()) record.value = record.reports.back().value;
    if (record.state == TrialState::finished && !std::isfinite(record.value)) record.state = TrialState::diverged;
  } catch (const std::exception& error) {
    record.state = TrialState::failed;
    record.error = error.what();
    record.value = std::nan("");
  }
}

}  // namespace

int64_t Trial::number() const { return run_->record().number; }
uint64_t Trial::seed() const { return run_->record().seed; }
const OptionValues& Trial::parameters() const { return run_->record().parameters; }
void Trial::report(int64_t step, double value) { run_->report(step, value, step); }
bool Trial::should_stop() const { return run_->should_stop(); }

Experiment::Experiment(ExperimentOptions options, Place place)
    : plan_(with_place(place, [&] { return new ExperimentPlan(std::move(options), place); })) {}
Experiment::Experiment(Experiment&&) noexcept = default;
Experiment::~Experiment() = default;

ExperimentResult Experiment::run(const std::function<double(Trial& trial)>& function,
                                 const std::function<bool()>& stop) {
  std::optional<Study> study;
  const std::string& folder = plan_->options().study;
  if (!folder.empty()) {
    study.emplace(folder, Study::Use::write);
    check_same_experiment(*study, plan_->identity());
  }
  TrialRunner runner(*plan_, study ? &*study : nullptr, {.stop = stop});
  return runner.run([&](TrialRun& run) { make_trial(run, function); });
}

}  // namespace retrace
