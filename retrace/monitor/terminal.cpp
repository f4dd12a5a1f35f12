#include "retrace/monitor/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "retrace/base/file.h"

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
}  // namespace

TerminalOptions terminal_options(std::FILE* stream, bool dumb) {
  TerminalOptions options;
  const int descriptor = ::fileno(stream);
  options.rewrite = !dumb && descriptor >= 0 && ::isatty(descriptor) == 1;
  winsize size{};
  if (options.rewrite && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.columns = size.ws_col;
  return options;
}

Terminal::Terminal(Write write, TerminalOptions options) : write_(std::move(write)), options_(options) {}

Terminal::Terminal(std::FILE* stream, TerminalOptions options)
    : Terminal(
          [stream](const std::string& text, bool) {
            std::fwrite(text.data(), 1, text.size(), stream);
            std::fflush(stream);
          },
          options) {}

Terminal::~Terminal() {
  try {
    if (shown_ > 0) write_("\n", false);
  } catch (const std::bad_alloc&) {  // the line stays open
  }
}

void Terminal::receive(const Event& event) {
  std::visit([this](const auto& record) { show(record); }, event);
}

void Terminal::show(const RunStarted& event) {
  run_ = event;
  end_line(
      printable(fmt::format("{}: {} parameters, {} epoch{} of {} iterations on {} with {}{} thread{}, in {}", event.job,
                            event.parameters, event.epochs, event.epochs == 1 ? "" : "s", event.iterations_per_epoch,
                            event.device, event.workers > 1 ? fmt::format("{} workers of ", event.workers) : "",
                            event.threads, event.threads == 1 ? "" : "s", event.run_dir)));
}

void Terminal::show(const StepDone& event) {
  end_epoch();
  if (!options_.rewrite) return;
  const auto now = std::chrono::steady_clock::now();
  if (shown_ > 0 && std::chrono::duration<double>(now - last_).count() < options_.interval) return;
  last_ = now;
  rewrite(line(event.epoch, event.iteration, event.loss, event.seconds));
}

void Terminal::show(const EpochDone& event) { epoch_ = event; }

void Terminal::show(const ValidationDone& event) {
  validation_ = event;
  if (epoch_) epoch_->seconds = event.seconds;
}

void Terminal::show(const RunFinished& event) {
  end_epoch();
  end_line(fmt::format("{} after {} iterations, {}", printable(event.stop_reason), event.iteration,
                       duration_text(event.seconds)));
}

// An epoch's line is written when the next thing happens, so that its validation stands on it.
void Terminal::end_epoch() {
  if (!epoch_) return;
  const std::string text = line(epoch_->epoch, epoch_->iteration, epoch_->loss, epoch_->seconds);
  if (options_.rewrite)
    rewrite(text);
  else
    end_line(text);
  epoch_.reset();
}

std::string Terminal::line(int epoch, int64_t iteration, double loss, double seconds) const {
  const int64_t all = run_.epochs * run_.iterations_per_epoch;
  std::string text =
      fmt::format("epoch {}/{}  step {}/{}  loss {}", epoch, run_.epochs, iteration, all, number_text(loss));
  if (validation_) {
    text += fmt::format("  validation {}", number_text(validation_->loss));
    for (const auto& [name, value] : validation_->metrics)
      text += fmt::format("  {} {}", printable(name), number_text(value));
  }
  text += "  " + duration_text(seconds);
  if (iteration > 0 && iteration < all)
    text += fmt::format("  {} left",
                        duration_text(seconds / static_cast<double>(iteration) * static_cast<double>(all - iteration)));
  return text;
}

void Terminal::rewrite(const std::string& text) {
  // The last column stays free: some terminals wrap when it is written.
  std::string shown = text.substr(0, static_cast<size_t>(std::max(options_.columns - 1, 20)));
  // A longer text may stand there still, since the ones between may never have been written.
  shown_ = std::max(shown_, shown.size());
  shown.append(shown_ - shown.size(), ' ');
  write_("\r" + shown, true);
}

void Terminal::end_line(const std::string& text) {
  write_((shown_ > 0 ? "\n" : "") + text + "\n", false);
  shown_ = 0;
}

}  // namespace retrace
