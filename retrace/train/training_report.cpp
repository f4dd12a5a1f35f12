#include "retrace/train/training_report.h"

#include "retrace/base/hash.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/versions.h"

namespace retrace {

TrainingReport::TrainingReport(const Job& job, TrainJobControl control, bool first)
    : job_(job), control_(std::move(control)), first_(first) {}

double TrainingReport::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void TrainingReport::open(RunStarted event) {
  open_ = true;
  if (control_.write_run && first_) run_.emplace(RunFolder::create(job_, current_versions(event.device), control_.out));
  event.run_dir = run_dir().string();
  tell(event);
}

void TrainingReport::tell(const Event& event) {
  if (run_) run_->check();
  if (run_ && !std::holds_alternative<StepDone>(event)) run_->event(event_json(event));
  if (control_.monitor && first_) control_.monitor->receive(event);
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
  run_->epoch(std::move(prints), to_safetensors(weights.parameters, weights.state));
}

void TrainingReport::flush() {
  if (run_) run_->flush();
}

void TrainingReport::give_up() noexcept {
  if (run_) run_->give_up();
}

}  // namespace retrace
