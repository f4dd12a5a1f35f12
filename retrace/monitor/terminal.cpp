#include "retrace/monitor/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/base/options.h"
#include "retrace/monitor/small_curve.h"

namespace retrace {

std::string duration_text(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return "?";
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

namespace {
// Four places, unless that would hide the number or fill the line.
std::string number_text(double value) {
  const double size = value < 0 ? -value : value;
  if (std::isnan(value)) return "nan";  // its sign means nothing
  return size == 0 || (size >= 1e-3 && size < 1e6) ? fmt::format("{:.4f}", value) : fmt::format("{:.4g}", value);
}

// Three digits that count.
std::string rate_text(double rate) { return fmt::format("{:.{}f}", rate, rate >= 100 ? 0 : rate >= 10 ? 1 : 2); }

// What is left out where a line is narrow, in this order.
enum Rank : int { kMust, kBar, kSteps, kSeconds, kCurve, kValidation, kSamples };

// The parts of a line; those that are no must may be left out where it is narrow, the lower number first.
class Line {
 public:
  void add(std::string text, int rank = kMust) { parts_.push_back({std::move(text), rank}); }

  // Without parts of the ranks up to `last`, as far as that makes it fit.
  std::string text(size_t columns, int last) {
    for (int rank = 1; rank <= last && text_columns(joined()) > columns; ++rank)
      std::erase_if(parts_, [&](const auto& part) { return part.second == rank; });
    return joined();
  }

 private:
  std::string joined() const {
    std::string text;
    for (const auto& [part, rank] : parts_) text += (text.empty() ? "" : "  ") + part;
    return text;
  }

  std::vector<std::pair<std::string, int>> parts_;
};
}  // namespace

TerminalOptions terminal_options(std::FILE* stream, bool dumb) {
  TerminalOptions options;
  const int descriptor = ::fileno(stream);
  options.rewrite = !dumb && descriptor >= 0 && ::isatty(descriptor) == 1;
  winsize size{};
  if (options.rewrite && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.columns = size.ws_col;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const std::string locale = foreign_environment(name); !locale.empty()) {
      options.unicode = locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
      break;
    }
  return options;
}

struct Terminal::View {
  void show(const RunStarted& event);
  void show(const StepDone& event);
  void show(const EpochDone& event);
  void show(const ValidationDone& event);
  void show(const RunFinished& event);
  std::string line(int epoch, int64_t iteration, double loss, double seconds) const;
  void rewrite(const std::string& text);
  void end_line(const std::string& text);
  void end_epoch();

  Write write;
  TerminalOptions options;
  RunStarted run = {};
  // The first step since the training began or went on: rates count from it, since it also makes the plan.
  std::optional<StepDone> first = {};
  std::optional<EpochDone> epoch = {};            // done, its line not yet written: a validation may follow
  std::optional<ValidationDone> validation = {};  // the last one
  std::chrono::steady_clock::time_point last = {};
  SmallCurve losses = {};
  size_t shown = 0;  // the most characters that the line had that stands on the terminal
};

Terminal::Terminal(Write write, TerminalOptions options)
    : view_(new View{.write = std::move(write), .options = options}) {}

Terminal::Terminal(std::FILE* stream, TerminalOptions options)
    : Terminal(
          [stream](const std::string& text, bool) {
            std::fwrite(text.data(), 1, text.size(), stream);
            std::fflush(stream);
          },
          options) {}

Terminal::~Terminal() {
  try {
    if (view_->shown > 0) view_->write("\n", false);
  } catch (const std::bad_alloc&) {  // the line stays open
  }
}

void Terminal::receive(const Event& event) {
  std::visit([this](const auto& record) { view_->show(record); }, event);
}

void Terminal::View::show(const RunStarted& event) {
  run = event;
  first.reset();
  losses = {};
  end_line(printable(
      fmt::format("{}: {}{} parameters, {} epoch{} of {} iterations on {} with {}{} thread{}{}", event.job,
                  event.iteration == 0 ? "" : fmt::format("goes on after iteration {}: ", event.iteration),
                  event.parameters, event.epochs, event.epochs == 1 ? "" : "s", event.iterations_per_epoch,
                  event.device, event.workers > 1 ? fmt::format("{} workers of ", event.workers) : "", event.threads,
                  event.threads == 1 ? "" : "s", event.run_dir.empty() ? "" : ", in " + event.run_dir)));
}

void Terminal::View::show(const StepDone& event) {
  end_epoch();
  if (!first) first = event;
  losses.add(event.loss);
  if (!options.rewrite) return;
  const auto now = std::chrono::steady_clock::now();
  if (shown > 0 && std::chrono::duration<double>(now - last).count() < options.interval) return;
  last = now;
  rewrite(line(event.epoch, event.iteration, event.loss, event.seconds));
}

void Terminal::View::show(const EpochDone& event) { epoch = event; }

void Terminal::View::show(const ValidationDone& event) {
  validation = event;
  if (epoch) epoch->seconds = event.seconds;
}

void Terminal::View::show(const RunFinished& event) {
  end_epoch();
  end_line(fmt::format("{} after {} iterations, {}", printable(event.stop_reason), event.iteration,
                       duration_text(event.seconds)));
  if (event.cause.empty() || !options.says_causes) return;
  end_line("  cause:    " + printable(event.cause));
  end_line("  help:     " + printable(event.help));
}

// An epoch's line is written when the next thing happens, so that its validation stands on it.
void Terminal::View::end_epoch() {
  if (!epoch) return;
  const std::string text = line(epoch->epoch, epoch->iteration, epoch->loss, epoch->seconds);
  if (options.rewrite)
    rewrite(text);
  else
    end_line(text);
  epoch.reset();
}

std::string Terminal::View::line(int epoch, int64_t iteration, double loss, double seconds) const {
  const int64_t all = run.epochs * run.iterations_per_epoch;
  const bool pictures = options.rewrite && options.unicode;
  Line line;
  if (pictures)
    line.add(progress_bar(static_cast<double>(iteration) / static_cast<double>(std::max<int64_t>(all, 1)), 10), kBar);
  line.add(fmt::format("epoch {}/{}", epoch, run.epochs));
  line.add(fmt::format("step {}/{}", iteration, all));
  line.add("loss " + number_text(loss));
  if (const std::string curve = losses.text(); pictures && !curve.empty()) line.add(curve, kCurve);
  if (validation) {
    line.add("validation " + number_text(validation->loss), kValidation);
    for (const auto& [name, value] : validation->metrics) line.add(printable(name) + " " + number_text(value));
  }
  line.add(duration_text(seconds), kSeconds);
  const double rate = first ? static_cast<double>(iteration - first->iteration) / (seconds - first->seconds) : 0;
  if (rate > 0 && std::isfinite(rate)) {
    const double samples = rate * static_cast<double>(run.samples_per_epoch) /
                           static_cast<double>(std::max<int64_t>(run.iterations_per_epoch, 1));
    line.add(rate_text(rate) + " steps/s", samples > 0 ? kSteps : kSamples);
    if (samples > 0) line.add(rate_text(samples) + " samples/s", kSamples);
    if (iteration < all) line.add(duration_text(static_cast<double>(all - iteration) / rate) + " left");
  }
  return line.text(static_cast<size_t>(std::max(options.columns - 1, 0)), options.rewrite ? kSamples : kSteps);
}

void Terminal::View::rewrite(const std::string& text) {
  // The last column stays free: some terminals wrap when it is written.
  const auto columns = static_cast<size_t>(std::max(options.columns - 1, 20));
  std::string now = text_columns(text) > columns ? text.substr(0, columns) : text;  // without pictures by now
  // A longer text may stand there still, since the ones between may never have been written.
  shown = std::max(shown, text_columns(now));
  now.append(shown - text_columns(now), ' ');
  write("\r" + now, true);
}

void Terminal::View::end_line(const std::string& text) {
  write((shown > 0 ? "\n" : "") + text + "\n", false);
  shown = 0;
}

}  // namespace retrace
