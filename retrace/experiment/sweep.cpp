#include "retrace/experiment/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "retrace/base/joined.h"
#include "retrace/base/sha256.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/report/run_log.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/manifest.h"
#include "retrace/train/metric_kind.h"
#include "retrace/train/stop_reason.h"
#include "retrace/train/train_job.h"
#include "retrace/train/versions.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

constexpr int64_t kWholeRun = std::numeric_limits<int64_t>::max();

bool larger_is_better(const std::string& objective) {
  for (const auto& metric : all_metrics())
    if (objective == metric.name || objective.ends_with("_" + metric.name)) return metric.larger_is_better;
  return false;
}

// The objective among what was measured.
double objective_in(const std::string& objective, double loss, const MetricValues& metrics) {
  if (objective == "loss") return loss;
  std::vector<std::string> names{"loss"};
  for (const auto& [name, value] : metrics) {
    if (name == objective) return value;
    names.push_back(name);
  }
  throw Error(ErrorKind::usage, 758, fmt::format("the job does not measure the objective \"{}\"", printable(objective)))
      .expected(joined(names, ", "))
      .help("choose one of these, or name the metric in training.metrics of the job");
}

// What happens to the study, and not to one trial.
bool is_of_study(const Error& error) { return error.code() >= 746 && error.code() <= 765; }

// Hands on what a training tells.
class TrialMonitor : public Monitor {
 public:
  TrialMonitor(TrialRun& run, const std::string& objective) : run_(run), objective_(objective) {}

  void receive(const Event& event) override {
    if (const auto* started = std::get_if<RunStarted>(&event)) run_.keep_reports(started->iteration);
    if (const auto* measured = std::get_if<ValidationDone>(&event))
      run_.report(static_cast<int64_t>(run_.record().reports.size()) + 1,
                  objective_in(objective_, measured->loss, measured->metrics), measured->iteration);
    if (const auto* finished = std::get_if<RunFinished>(&event)) finished_ = *finished;
  }
  const std::optional<RunFinished>& finished() const { return finished_; }

 private:
  TrialRun& run_;
  const std::string& objective_;
  std::optional<RunFinished> finished_;
};

class JobTrials {
 public:
  JobTrials(const ExperimentFile& file, const SweepControl& control, fs::path folder, int simultaneous)
      : file_(file), control_(control), folder_(std::move(folder)), simultaneous_(simultaneous) {}

  // The job of a trial.
  Job job_of(const TrialRecord& trial) const {
    std::vector<JobOverride> overrides = control_.overrides;
    if (!trial.parameters.find("seed"))
      overrides.push_back({"seed", fmt::format("{}", trial.seed), "the trial's seed"});
    for (const auto& [key, value] : trial.parameters)
      overrides.push_back({key, value_text(value), fmt::format("trial {}, parameter {}", trial.number, key)});
    return read_job(file_.job, overrides);
  }

  void make(TrialRun& run) const {
    TrialRecord& record = run.record();
    try {
      Job job = job_of(record);
      record.job = job_text(job);
      record.version = current_versions(job.device).retrace;
      record.run = fs::relative(trial_folder(folder_, record.number), folder_).string();
      if (job.workers == 0 && simultaneous_ > 1) job.workers = 1;  // the trials have the cores
      if (job.threads == 0 && simultaneous_ > 1) job.threads = threads_of_worker(simultaneous_ * job.workers);
      train(run, job);
    } catch (const Error& error) {
      if (is_of_study(error)) throw;
      record.state = TrialState::failed;
      record.error = error.what();
    }
  }

 private:
  void train(TrialRun& run, const Job& job) const {
    const fs::path out = trial_folder(folder_, run.record().number);
    TrialMonitor monitor(run, file_.objective);
    TrainJobControl control{.out = out, .monitor = &monitor, .stop = [&run] { return run.should_stop(); }};
    if (run.again()) {
      run.keep_reports(kWholeRun);
      if (take_ended(run, out)) return;
      if (run.pruned()) remove_checkpoints(out, run.record().reports.back().iteration + 1);
      if (!states_of(out).empty()) control.resume = out, control.out.clear();
    }
    if (control.resume.empty()) fs::remove_all(out);
    train_job(job, control);
    take(run, *monitor.finished(), out);
  }

  // A run that came to its end before the study knew.
  bool take_ended(TrialRun& run, const fs::path& out) const {
    if (std::error_code ignored; !fs::exists(manifest_path(out), ignored)) return false;
    const RunLog log = read_run_log(out);
    if (!log.finished || (log.finished->stop_reason == kStopped && !run.pruned())) return false;
    take(run, *log.finished, out);
    return true;
  }

  void take(TrialRun& run, const RunFinished& finished, const fs::path& out) const {
    TrialRecord& record = run.record();
    record.iterations = finished.iteration;
    record.fingerprint = finished.fingerprint;
    if (finished.stop_reason == kStopped) {
      record.state = run.pruned() ? TrialState::pruned : TrialState::stopped;
      if (run.pruned()) record.value = record.reports.back().value;
    } else if (finished.stop_reason == kNotFinite) {
      record.state = TrialState::diverged;
    } else {
      record.state = TrialState::finished;
      record.value = objective_in(file_.objective, finished.loss, finished.metrics);
    }
    if (const auto manifest = read_manifest(out)) {
      std::string data;
      for (const auto& [name, value] : manifest->identity)
        if (name.starts_with("training set") || name.starts_with("test set"))
          data += fmt::format("{} = {}\n", name, value);
      record.data_digest = sha256_text(data);
    }
  }

  const ExperimentFile& file_;
  const SweepControl& control_;
  const fs::path folder_;
  const int simultaneous_;
};

// Every parameter is a key of the job, and the first trial's job is in order.
void check_parameters(const ExperimentPlan& plan, const JobTrials& trials) {
  const auto first = plan.suggest(1, {});
  trials.job_of({.number = 1, .parameters = *first, .seed = plan.seed_of(1)});
}

std::string identity_of(const ExperimentFile& file, const ExperimentPlan& plan) {
  std::string text = plan.identity() + fmt::format("objective = {}\n", file.objective);
  for (const auto& [key, value] : job_identity(read_job(file.job))) text += fmt::format("job: {} = {}\n", key, value);
  return text;
}

}  // namespace

Sweep sweep_of(const ExperimentFile& file, const SweepControl& control) {
  const fs::path folder = control.out.empty() ? fs::path("experiments") / file.name : control.out;
  return {folder, file.objective, file.maximize.value_or(larger_is_better(file.objective)), file.options.trials};
}

ExperimentResult run_sweep(const ExperimentFile& file, const SweepControl& control) {
  const Sweep sweep = sweep_of(file, control);
  ExperimentOptions options = file.options;
  options.maximize = sweep.maximize;
  options.simultaneous = control.simultaneous.value_or(options.simultaneous);
  const ExperimentPlan plan(options, {});
  const JobTrials trials(file, control, sweep.folder, options.simultaneous);
  check_parameters(plan, trials);
  Study study(sweep.folder, Study::Use::write);
  check_same_experiment(study, identity_of(file, plan));
  study.set_text("objective", file.objective);
  study.set_text("direction", sweep.maximize ? "maximize" : "minimize");
  study.set_text("trials", fmt::format("{}", plan.trials()));
  TrialRunner runner(plan, &study, control.watcher);
  return runner.run([&](TrialRun& run) { trials.make(run); });
}

}  // namespace retrace
