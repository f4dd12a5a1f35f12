#include "retrace/cli/stop_signals.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace retrace::cli {
namespace {

struct Known {
  int number;
  const char* name;
};
constexpr std::array<Known, 5> kSignals = {
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGUSR1, "SIGUSR1"}, {SIGXCPU, "SIGXCPU"}}};
constexpr int64_t kTogether = 250;  // milliseconds

// What the handler uses; all of it is lock-free.
std::atomic<int> first_signal{0};
std::atomic<int64_t> first_time{0};
std::atomic<bool> says{false}, starts_a_line{false};
std::array<struct sigaction, kSignals.size()> before;

int64_t milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000 + 1;
}

// write(2) alone, and only if it does not wait: standard error may be a pipe that nobody reads.
void say(std::string_view text) {
  pollfd stream{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&stream, 1, 0) <= 0) return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void announce(int number) {
  if (!says) return;
  if (starts_a_line) say("\n");
  say(number == SIGINT ? "stopping after this iteration; press Ctrl-C again to stop at once\n"
                       : "stopping after this iteration; SIGTERM or SIGINT stops at once\n");
}

void on_signal(int number) {
  const int error = errno;
  int64_t none = 0;
  if (first_time.compare_exchange_strong(none, milliseconds())) {
    first_signal = number;
    announce(number);
  } else if ((number == SIGINT || number == SIGTERM) && milliseconds() - none > kTogether) {
    std::_Exit(128 + number);
  }
  errno = error;
}

}  // namespace

StopSignals::StopSignals(bool speaks, bool rewrites) {
  first_signal = 0, first_time = 0;
  says = speaks, starts_a_line = rewrites;
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i].number, nullptr, &before[i]);
    const bool ignored = before[i].sa_handler == SIG_IGN && kSignals[i].number == SIGHUP;
    if (!ignored) ::sigaction(kSignals[i].number, &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i].number, &before[i], nullptr);
}

int StopSignals::received() { return first_signal; }

const char* StopSignals::name(int signal) {
  for (const auto& known : kSignals)
    if (known.number == signal) return known.name;
  return "a signal";
}

}  // namespace retrace::cli
