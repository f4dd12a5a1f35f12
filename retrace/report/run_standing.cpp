#include "retrace/report/run_standing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <span>

#include "retrace/base/file.h"
#include "retrace/base/json_value.h"
#include "retrace/report/run_series.h"
#include "retrace/train/mode_names.h"

namespace retrace {
namespace {

constexpr uint64_t kHead = 16 << 10, kTail = 8 << 10, kLongestTail = 16 << 20;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What the end of a file has told so far, read backwards.
struct Known {
  bool started = false, epoch = false, validation = false, position = false;
  bool all() const { return started && epoch && validation; }
};

std::string bytes_at(int descriptor, uint64_t from, uint64_t count) {
  std::string bytes(count, '\0');
  if (!read_exactly(descriptor, std::as_writable_bytes(std::span(bytes)), from)) bytes.clear();
  return bytes;
}

void take_start(const JsonValue& event, RunStanding& standing) {
  standing.job = event.string_or("job", "");
  standing.device = event.string_or("device", "");
  standing.workers = static_cast<int>(event.integer_or("workers", 0));
  standing.threads = static_cast<int>(event.integer_or("threads", 0));
  standing.epochs = event.integer_or("epochs", 0);
  standing.iterations_per_epoch = event.integer_or("iterations_per_epoch", 0);
  standing.parameters = event.integer_or("parameters", 0);
  standing.mode = event.string_or("mode", kReproducible);
}

void take_validation(const JsonValue& event, RunStanding& standing) {
  standing.validation_loss = event.number_or("validation_loss", kUnknown);
  const auto* metrics = event.find("metrics");
  if (!metrics || !metrics->members()) return;
  for (const auto& [name, value] : *metrics->members())
    if (!value.list()) standing.metrics.emplace_back(name, value.number().value_or(kUnknown));
}

std::vector<std::pair<std::string, std::string>> texts_in(const JsonValue& event, const char* name) {
  std::vector<std::pair<std::string, std::string>> texts;
  const auto* found = event.find(name);
  if (!found || !found->members()) return texts;
  for (const auto& [member, value] : *found->members())
    if (value.string()) texts.emplace_back(member, *value.string());
  return texts;
}

// What a loop of a program tells; false for other events.
bool take_earlier_of_loop(const std::string& name, const JsonValue& event, RunStanding& standing, Known& known) {
  if (name == "record" && !known.position)
    standing.iteration = static_cast<int64_t>(event.number_or("x", 0)), known.position = true;
  if (name == "ended") standing.finished = true, standing.seconds = event.number_or("seconds", 0);
  if (name == "fields" && !standing.told) {
    standing.job = event.string_or("job", "");
    if (!standing.finished) standing.seconds = event.number_or("seconds", 0);
    auto& told = standing.told.emplace();
    told.progress = event.number_or("progress", 0);
    told.status = event.string_or("status", ""), told.x_label = event.string_or("x_label", "");
    told.info = texts_in(event, "info"), told.groups = texts_in(event, "groups");
    const auto* charts = event.find("log");
    if (charts && charts->list())
      for (const auto& chart : *charts->list())
        if (chart.string()) told.logarithmic.push_back(*chart.string());
  }
  if (standing.told) known.started = known.epoch = known.validation = known.position;
  return name == "record" || name == "ended" || name == "fields";
}

// One event; later ones have been taken.
void take_earlier(std::string_view line, RunStanding& standing, Known& known) {
  const auto event = JsonValue::parse(line);
  if (!event) return;
  const std::string name = event->string_or("event", "");
  if (take_earlier_of_loop(name, *event, standing, known)) return;
  if (name == "started" || name == "resumed") {
    if (!known.started) take_start(*event, standing);
    known.started = true;
  }
  const bool finished = name == "finished", validation = name == "validation", epoch = name == "epoch";
  if (!finished && !validation && !epoch) return;
  if (!known.position) {
    standing.epoch = static_cast<int>(event->integer_or("epoch", 0));
    standing.iteration = event->integer_or("iteration", 0);
    standing.seconds = event->number_or("seconds", 0);
    standing.finished = finished;
    standing.fingerprint = event->string_or("fingerprint", "");
    standing.stop_reason = event->string_or("stop_reason", "");
  }
  known.position = true;
  if (!epoch && !known.validation) take_validation(*event, standing), known.validation = true;
  if (epoch && !known.epoch) standing.loss = event->number_or("loss", kUnknown), known.epoch = true;
}

// The complete lines of `text`, the last one first, until all is known. Its first line may be torn, unless it `begins`
// the file.
void take_backwards(std::string_view text, bool begins, RunStanding& standing, Known& known) {
  size_t end = text.rfind('\n');
  while (end != std::string_view::npos && !known.all()) {
    const size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    if (before == std::string_view::npos && !begins) return;
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    take_earlier(text.substr(begin, end - begin), standing, known);
    end = before;
  }
}

}  // namespace

RunStanding read_run_standing(const std::filesystem::path& run) {
  check_has_series(run);
  RunStanding standing;
  standing.loss = standing.validation_loss = kUnknown;
  const FileDescriptor file(::open((run / "metrics.jsonl").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return standing;
  const auto size = static_cast<uint64_t>(status.st_size);
  Known known;
  for (uint64_t tail = kTail;; tail *= 8) {
    known = {}, standing.metrics.clear(), standing.told.reset();
    const uint64_t from = size - std::min(size, tail);
    take_backwards(bytes_at(file.get(), from, size - from), from == 0, standing, known);
    if (from == 0 || standing.told || (known.epoch && known.validation) || (known.position && tail > kTail) ||
        tail >= kLongestTail)
      break;
  }
  if (known.started || standing.told) return standing;
  const std::string head = bytes_at(file.get(), 0, std::min(size, kHead));
  if (const auto first = JsonValue::parse(head.substr(0, head.find('\n')))) take_start(*first, standing);
  return standing;
}

}  // namespace retrace
