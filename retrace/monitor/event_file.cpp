#include "retrace/monitor/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>

#include "retrace/base/file.h"
#include "retrace/base/warning.h"
#include "retrace/monitor/background.h"
#include "retrace/monitor/event_record.h"

namespace retrace {
namespace {

constexpr size_t kEnough = 64 << 10, kMostWaiting = 16 << 20;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? std::string(name.data()) : "host";
}

// Readers take files in the order of their names: that of their times.
std::filesystem::path new_event_file(const std::filesystem::path& folder, double time) {
  static std::atomic<int> number{0};
  return folder / fmt::format("events.out.tfevents.{:010}.{}.{}.{}", static_cast<int64_t>(time), host_name(),
                              ::getpid(), number++);
}

struct EventScalars {
  int64_t iteration = 0;
  std::vector<std::pair<std::string, double>> values;

  explicit EventScalars(const RunStarted&) {}
  explicit EventScalars(const StepDone& e)
      : iteration(e.iteration), values{{"loss", e.loss}, {"learn_rate", e.learn_rate}} {}
  explicit EventScalars(const EpochDone& e) : iteration(e.iteration) {
    if (e.complete) values.emplace_back("epoch_loss", e.loss);
  }
  explicit EventScalars(const ValidationDone& e) : iteration(e.iteration), values{{"validation_loss", e.loss}} {
    for (const auto& [name, value] : e.metrics) values.emplace_back("validation/" + name, value);
  }
  explicit EventScalars(const RunFinished&) {}  // its measures are those of a validation
};

}  // namespace

struct EventFile::Writer {
  explicit Writer(std::filesystem::path where) : folder(std::move(where)), background([this] { write(); }) {}

  void begin(int64_t step) {
    const double time = seconds_since_1970();
    EventRecord version, session;
    version.wall_time = session.wall_time = time;
    version.file_version = "brain.Event:2";
    session.step = step, session.begins = true;
    const std::lock_guard lock(mutex);
    path = new_event_file(folder, time);
    waiting += encode_event(version) + encode_event(session);
  }

  void add(const EventScalars& scalars, bool is_step) {
    EventRecord record;
    record.wall_time = seconds_since_1970(), record.step = scalars.iteration, record.scalars = scalars.values;
    if (scalars.values.empty()) return ask(record.wall_time);
    bool due = !is_step || record.wall_time >= last_asked + 1;
    {
      const std::lock_guard lock(mutex);
      if (waiting.size() < kMostWaiting) waiting += encode_event(record);
      due = due || waiting.size() >= kEnough;
    }
    if (due) ask(record.wall_time);
  }

  void ask(double time) {
    last_asked = time;
    if (!background.ask()) write();
  }

  // On the thread of the background.
  void write() {
    std::string bytes;
    {
      const std::lock_guard lock(mutex);
      std::swap(bytes, waiting);
      if (path != open_path) open_path = path, file = FileDescriptor();
    }
    if (bytes.empty() || failed) return;
    if (file.get() < 0)
      file = FileDescriptor(::open(open_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    if (file.get() >= 0 && write_all(file.get(), bytes)) return;
    failed = true;
    warn(fmt::format("the training goes on without its event file \"{}\": {}", printable(open_path.string()),
                     system_reason(errno)));
  }

  const std::filesystem::path folder;
  double last_asked = 0;
  std::mutex mutex;
  std::string waiting;         // bytes
  std::filesystem::path path;  // of the file that the bytes belong to
  // Of the thread of the background.
  std::filesystem::path open_path;
  FileDescriptor file;
  bool failed = false;
  Background background;  // last: it ends first
};

EventFile::EventFile(std::filesystem::path folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw write_failed(folder, failure.value());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw write_failed(folder, errno);
  writer_ = std::make_unique<Writer>(std::move(folder));
}

EventFile::~EventFile() { writer_->ask(0); }

void EventFile::receive(const Event& event) {
  if (const auto* start = std::get_if<RunStarted>(&event)) return writer_->begin(start->iteration + 1);
  const bool is_step = std::holds_alternative<StepDone>(event);
  std::visit([&](const auto& record) { writer_->add(EventScalars(record), is_step); }, event);
}

}  // namespace retrace
