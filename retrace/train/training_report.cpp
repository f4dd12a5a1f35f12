#include "retrace/train/training_report.h"

#include "retrace/base/hash.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/versions.h"

namespace retrace {
namespace {

SafeTensors weights_file(const NetworkWeights& weights) {
  SafeTensors file = to_safetensors(weights.parameters, weights.state);
  if (is_fast()) file.metadata["mode"] = mode_name(mode_of_thread());
  return file;
}

}  // namespace

TrainingReport::TrainingReport(const TrainingTask& task, TrainJobControl control, bool first)
    : task_(task), control_(std::move(control)), first_(first), clock_(task.training) {}

double TrainingReport::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void TrainingReport::open(RunStarted event, int64_t epochs) {
  open_ = true;
  if (first_ && !control_.resume.empty()) {
    seconds_before_ = last_seconds(control_.resume / "metrics.jsonl");
    run_.emplace(RunFolder::resume(control_.resume, epochs, event.iteration), event.iteration);
  } else if (first_ && control_.write_run) {
    run_.emplace(
        RunFolder::create({task_.name, task_.file, task_.text, task_.classes, task_.data.facts, task_.network_text},
                          current_versions(event.device), control_.out));
  }
  if (run_) run_->data(data_files(task_));
  event.run_dir = run_dir().string();
  tell(event);
}

void TrainingReport::tell(const Event& event) {
  if (run_) run_->check();
  if (run_ && !std::holds_alternative<StepDone>(event)) run_->event(event_json(event));
  if (control_.monitor && first_) control_.monitor->receive(event);
}

void TrainingReport::step(const StepRecord& step) {
  if (run_) run_->step(step);
  if (control_.on_step) control_.on_step(step);
}

void TrainingReport::epoch(int epoch, int64_t stopped_after, const NetworkWeights& weights) {
  if (!run_) return;
  EpochFingerprints prints{epoch, 0, {}};
  uint64_t sum = 0;
  const auto tensors = named_weights(weights.parameters, weights.state);
  const auto values = fingerprint_values(tensors);
  for (size_t i = 0; i < tensors.size(); ++i) sum += prints.tensors[tensors[i].first] = values[i];
  prints.all = mix64(sum);
  prints.stopped_after = stopped_after;
  prints.mode = mode_name(mode_of_thread());
  run_->epoch(std::move(prints), weights_file(weights));
}

void TrainingReport::result(int epoch, const NetworkWeights& weights) {
  if (run_) run_->weights(epoch, weights_file(weights));
}

Due TrainingReport::due(int64_t iterations, int64_t epochs) {
  return run_ ? clock_.due(iterations, epochs, seconds()) : Due::nothing;
}

void TrainingReport::flush() {
  if (run_) run_->flush();
}

void TrainingReport::seal() {
  if (run_) run_->seal(checkpoint_owner(task_));
}

void TrainingReport::give_up() noexcept {
  if (run_) run_->give_up();
}

void TrainingReport::discard() noexcept {
  if (run_) run_->discard();
}

}  // namespace retrace
