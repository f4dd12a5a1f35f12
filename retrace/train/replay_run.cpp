#include "retrace/train/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>

#include "retrace/base/fp_environment.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/data_files.h"
#include "retrace/train/manifest.h"
#include "retrace/train/training_run.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {

Job job_to_replay(const fs::path& run, const std::vector<JobOverride>& overrides) {
  std::error_code failure;
  check_run_folder(run);
  if (!fs::exists(run / "job.toml", failure))
    throw Error(ErrorKind::usage, 647, fmt::format("the run \"{}\" was trained by a program", printable(run.string())))
        .got("training.toml, without network and data")
        .help("only that program knows them: it replays the run with replay_network()");
  const Job before = read_run_job(run);
  return overrides.empty() ? before : read_job(run / "job.toml", overrides);
}

// Error(bad_data) that names what the run followed from and is something else now.
void check_identity(const Manifest& manifest, const TrainingTask& task) {
  std::string text;
  const NamedValues now = checkpoint_owner(task);
  for (const auto& [name, value] : manifest.identity) {
    const auto found = std::find_if(now.begin(), now.end(), [&](const auto& one) { return one.first == name; });
    const std::string other = found == now.end() ? "unknown" : found->second;
    if (other != value) text += fmt::format("{}{} is {}, not {}", text.empty() ? "" : "; ", name, other, value);
  }
  if (!text.empty())
    throw Error(ErrorKind::bad_data, 645, "job or data are not those that the run was trained with")
        .got(printable(text))
        .help("give the data of then (--data DIR), or train anew");
}

void check_range(const ReplayOptions& options, int64_t last, const std::vector<StepRecord>& log) {
  if (options.first >= log.front().iteration && options.first <= last && last <= log.back().iteration) return;
  throw Error(ErrorKind::usage, 644, "the run has not recorded these steps")
      .got(fmt::format("{}..{}", options.first, last))
      .expected(fmt::format("steps of {}..{}, the first one first", log.front().iteration, log.back().iteration));
}

std::map<std::string, uint64_t> prints_of(const std::vector<std::pair<std::string, Tensor>>& named) {
  std::map<std::string, uint64_t> prints;
  const auto values = fingerprint_values(named);
  for (size_t i = 0; i < named.size(); ++i) prints[named[i].first] = values[i];
  return prints;
}

// Of weights.safetensors.
std::map<std::string, uint64_t> recorded_weights(const fs::path& run) {
  std::vector<std::pair<std::string, Tensor>> named;
  for (const auto& tensor : read_run_weights(run).tensors)
    named.emplace_back(tensor.name, tensor_of(tensor, run.string()));
  return prints_of(named);
}

TrainingCall call_of(const Job& job) {
  return {.settings = settings_of(job),
          .device = job.device,
          .shards = job.training.shards,
          .workers = job.workers,
          .sizes = fmt::format("training.mini_batch_size = {}", job.training.mini_batch_size),
          .make_task = [&] { return task_of(job); }};
}

// The same, whose task is that of the manifest.
TrainingCall checked(const fs::path& run, const TrainingCall& call, const std::optional<Manifest>& manifest) {
  TrainingCall made = call;
  made.make_task = [&run, &call, &manifest] {
    TrainingTask task = call.make_task();
    check_data_files(run, data_files(task), DataCheck::all);
    if (manifest) check_identity(*manifest, task);
    return task;
  };
  return made;
}

// Passes events on, beside the comparison.
class Both : public Monitor {
 public:
  Both(Monitor& first, Monitor* second) : first_(first), second_(second) {}
  void receive(const Event& event) override {
    first_.receive(event);
    if (second_) second_->receive(event);
  }

 private:
  Monitor& first_;
  Monitor* second_;
};

}  // namespace

ReplayResult replay_training(const fs::path& run, Pool& pool, const TrainingCall& call, bool averages,
                             const ReplayOptions& options) {
  const FloatingPointScope floating_point;
  check_files(run);
  const auto manifest = read_manifest(run);
  ReplayCheck check(run, averages);
  const int64_t last = options.last > 0 ? options.last : check.log().back().iteration;
  check_range(options, last, check.log());
  const bool to_end = last == check.log().back().iteration, by_itself = to_end && check.is_complete();
  std::atomic<bool> done = false, stopped = false;
  Both monitor(check, options.monitor);
  const TrainJobControl control{.begin = TrainJobControl::Begin{run, options.first - 1},
                                .write_run = false,
                                .monitor = &monitor,
                                .on_step =
                                    [&](const StepRecord& step) {
                                      check.step(step);
                                      if (options.stop && options.stop() && step.iteration < last) stopped = true;
                                      if (check.difference() || stopped || (step.iteration >= last && !by_itself))
                                        done = true;
                                    },
                                .watched = options.watched,
                                .stop = [&] { return done.load(); }};
  const auto trained = run_training(pool, checked(run, call, manifest), control);
  const bool with_weights = pool.is_first() && to_end && check.is_finished() && !stopped && !check.difference();
  if (with_weights)
    check.weights(last, recorded_weights(run),
                  prints_of(named_weights(trained.weights.parameters, trained.weights.state)));
  if (pool.is_first() && !stopped) check.end(by_itself ? last : last - 1);
  return {.job = trained.job,
          .device = trained.device,
          .first = check.begin() + 1,
          .last = trained.iterations,
          .begin = check.begin(),
          .fingerprints = check.fingerprints(),
          .events = check.events(),
          .weights = with_weights,
          .stopped = stopped,
          .mode = mode_name(call.settings.mode),
          .difference = check.difference()};
}

ReplayResult replay_run(const fs::path& run, const ReplayOptions& options) {
  const FloatingPointScope floating_point;
  const Job job = job_to_replay(run, options.overrides);
  const TrainingCall call = call_of(job);
  Pool pool = own_pool(call, {.timeout = job.training.timeout});
  return replay_training(run, pool, call, job.training.average_decay > 0, options);
}

void read_steps(const std::string& text, ReplayOptions& options) {
  const auto number = [&](std::string_view part, int64_t otherwise) {
    int64_t value = otherwise;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), value);
    const bool good = part.empty() || (failure == std::errc() && end == part.data() + part.size() && value > 0);
    if (!good || text.empty() || text == "..")
      throw Error(ErrorKind::usage, 648, fmt::format("--steps \"{}\" are no steps", printable(text)))
          .expected("A..B, A.. (up to the last one), ..B or A: numbers of steps, from 1");
    return value;
  };
  const size_t dots = text.find("..");
  options.first = number(text.substr(0, dots), 1);
  options.last = dots == std::string::npos ? options.first : number(text.substr(dots + 2), 0);
}

}  // namespace retrace
