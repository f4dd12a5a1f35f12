#include "retrace/train/run_writer.h"

#include <fmt/format.h>

#include <utility>

#include "retrace/base/json.h"
#include "retrace/base/warning.h"
#include "retrace/train/checkpoint.h"
#include "retrace/train/checkpoint_files.h"

namespace retrace {
namespace {

constexpr size_t kMostLines = 4096;
constexpr size_t kMostEpochs = 1024;
constexpr auto kStepsWait = std::chrono::seconds(1);
constexpr int64_t kStepsTogether = 64, kMostSteps = 65'536;

size_t bytes_of(const SafeTensors& weights) {
  size_t bytes = 0;
  for (const auto& tensor : weights.tensors) bytes += tensor.bytes.size();
  return bytes;
}

// What the error of weights that cannot be written says.
void describe_room(Error& error, const std::filesystem::path& folder, size_t needed, int epoch, int written_epoch) {
  std::error_code failure;
  const auto space = std::filesystem::space(folder, failure);
  const bool room = !failure && space.available > needed;
  error.got(failure ? "an unknown number of bytes free" : fmt::format("{} bytes free", space.available))
      .expected(fmt::format("more than {} bytes for the weights of epoch {}", needed, epoch));
  const std::string remedy = room ? "there is room: look for a limit of file sizes (ulimit -f), a quota, a broken disk"
                                  : "make room, or choose a folder on another disk with --out";
  error.help(written_epoch == 0
                 ? remedy
                 : fmt::format("{}; weights.safetensors still holds the weights of epoch {}", remedy, written_epoch));
}

}  // namespace

RunWriter::RunWriter(RunFolder folder, int64_t iterations)
    : folder_(std::move(folder)), checkpointed_(iterations), background_([this] { write_waiting(); }) {}

RunWriter::~RunWriter() { finish_waiting(); }

void RunWriter::finish_waiting() {
  ask();
  background_.wait();
}

void RunWriter::event(std::string line) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.lines.size() < kMostLines)
      waiting_.lines.push_back(std::move(line));
    else
      ++waiting_.dropped;
  }
  ask();
}

void RunWriter::step(const StepRecord& step) {
  int64_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.steps.empty()) waiting_.steps += '\n';
    waiting_.steps += step_line(step);
    waiting = ++waiting_.step_count;
  }
  const auto now = std::chrono::steady_clock::now();
  if (waiting % kStepsTogether == 0 || now - asked_for_steps_ > kStepsWait) asked_for_steps_ = now, ask();
  if (waiting >= kMostSteps) background_.wait();
}

void RunWriter::epoch(EpochFingerprints fingerprints, SafeTensors weights) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.weights_epoch = fingerprints.epoch;
    waiting_.weights = std::move(weights);
    waiting_.epochs.push_back(std::move(fingerprints));
    full = waiting_.epochs.size() >= kMostEpochs;
  }
  ask();
  if (full) background_.wait();
}

void RunWriter::weights(int epoch, SafeTensors weights) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.weights_epoch = epoch;
    waiting_.weights = std::move(weights);
  }
  ask();
}

void RunWriter::checkpoint(Checkpoint checkpoint) {
  if (checkpoint.snapshot) {
    settle();
    snapshot_waits_ = true;
  }
  {
    const std::lock_guard lock(mutex_);
    (checkpoint.snapshot ? waiting_.snapshot : waiting_.checkpoint) = std::move(checkpoint);
  }
  ask();
}

void RunWriter::settle() {
  if (snapshot_waits_) background_.wait();
}

void RunWriter::ask() {
  if (!background_.ask()) write_waiting();
}

void RunWriter::check() {
  if (has_written_) {
    const std::lock_guard lock(mutex_);
    written_.clear();
    has_written_ = false;
  }
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  std::rethrow_exception(error_);
}

void RunWriter::flush() {
  finish_waiting();
  if (!failed_) attempt([&] { folder_.sync(); });
  check();
}

void RunWriter::data(std::vector<DataFile> files) {
  std::error_code ignored;
  if (!std::filesystem::exists(data_files_path(folder_.path()), ignored)) data_ = std::move(files);
}

void RunWriter::write_data() {
  try {
    write_data_files(folder_.path(), data_);
  } catch (const std::exception& error) {
    warn(fmt::format("the run keeps no sizes and hashes of its data\n{}", error.what()));
  }
  data_.clear();
}

void RunWriter::seal(const NamedValues& identity) {
  flush();
  write_data();
  folder_.seal(identity);
}

void RunWriter::give_up() noexcept {
  try {
    finish_waiting();
    if (written_epoch_ == 0 && checkpointed_ == 0 && states_of(folder_.path()).empty()) folder_.discard();
  } catch (const std::exception&) {
    // The error that ended the run is the one to be told.
  }
}

void RunWriter::discard() noexcept {
  try {
    background_.wait();
    folder_.discard();
  } catch (const std::exception&) {
    // What is left says what it is.
  }
}

// Everything is tried, weights first; the first error is kept. A checkpoint comes after all that it goes on from.
void RunWriter::write_waiting() {
  Waiting now;
  {
    const std::lock_guard lock(mutex_);
    std::swap(now, waiting_);
  }
  if (now.weights) attempt([&] { write_weights(*now.weights, now.weights_epoch); });
  if (!now.steps.empty()) attempt([&] { folder_.log_steps(now.steps); });
  attempt([&] { write_events(now); });
  if (!now.epochs.empty()) attempt([&] { folder_.record(now.epochs); });
  const int64_t before = checkpointed_;
  if (now.checkpoint && !failed_) write_checkpoint(*now.checkpoint);
  if (now.snapshot && !failed_ && now.snapshot->iterations > checkpointed_) write_snapshot(*now.snapshot);
  if (now.checkpoint) let_go(std::move(*now.checkpoint));
  if (now.snapshot) let_go(std::move(*now.snapshot)), snapshot_waits_ = false;
  if (checkpointed_ > before) write_data();
}

template <class F>
void RunWriter::attempt(const F& write) {
  try {
    write();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
    failed_ = true;
  }
}

void RunWriter::write_weights(const SafeTensors& weights, int epoch) {
  try {
    folder_.write_weights(weights);
    written_epoch_ = epoch;
  } catch (Error& error) {
    if (error.kind() != ErrorKind::output) throw;
    describe_room(error, folder_.path(), bytes_of(weights), epoch, written_epoch_);
    throw;
  }
}

void RunWriter::write_checkpoint(const Checkpoint& checkpoint) {
  try {
    folder_.write_checkpoint(checkpoint.iterations, checkpoint_content(checkpoint.state, checkpoint.owner),
                             checkpoint.kept);
    checkpointed_ = checkpoint.iterations;
  } catch (const std::exception& error) {
    warn(fmt::format("the training goes on without the checkpoint of iteration {}, {}\n{}", checkpoint.iterations,
                     checkpointed_ == 0 ? "and there is none before it"
                                        : fmt::format("that of iteration {} stays", checkpointed_.load()),
                     error.what()));
  }
}

void RunWriter::write_snapshot(const Checkpoint& snapshot) {
  try {
    folder_.write_snapshot(snapshot.iterations, checkpoint_content(snapshot.state, snapshot.owner));
  } catch (const std::exception& error) {
    warn(fmt::format("the training goes on without the snapshot of iteration {}\n{}", snapshot.iterations,
                     error.what()));
  }
}

void RunWriter::let_go(Checkpoint checkpoint) {
  const std::lock_guard lock(mutex_);
  written_.push_back(std::move(checkpoint));
  has_written_ = true;
}

void RunWriter::write_events(const Waiting& waiting) {
  for (const auto& line : waiting.lines) folder_.metrics().append(line);
  if (waiting.dropped > 0)
    folder_.metrics().append(Json::object({{"event", "dropped"}, {"lines", waiting.dropped}}).text());
}

}  // namespace retrace
