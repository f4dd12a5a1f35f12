#include "retrace/cli/supervisor.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/cli/output.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/distributed/profile.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/run_lock.h"

namespace retrace::cli {
namespace {

constexpr int kLost = 77;  // the exit code of ErrorKind::lost
constexpr std::array<int, 5> kPassedOn = {SIGTERM, SIGHUP, SIGUSR1, SIGXCPU, SIGINT};

volatile sig_atomic_t child = 0, stopped = 0;

void pass_on(int signal) {
  stopped = signal;
  // A terminal sends SIGINT to the child, too.
  if (child > 0 && signal != SIGINT) ::kill(child, signal);
}

// While it lives, the signals go to the child; one that was ignored stays so.
class PassingOn {
 public:
  PassingOn() {
    struct sigaction action{};
    action.sa_handler = pass_on;
    for (size_t i = 0; i < kPassedOn.size(); ++i) {
      ::sigaction(kPassedOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(kPassedOn[i], &action, nullptr);
    }
  }
  ~PassingOn() {
    for (size_t i = 0; i < kPassedOn.size(); ++i) ::sigaction(kPassedOn[i], &before_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kPassedOn.size()> before_{};
};

// What a shell would say: 128 + N for signal N.
int run_process(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = ::fork();
  if (process < 0)
    throw Error(ErrorKind::unavailable, 665, "the system gives no process for the training").got(system_reason(errno));
  if (process == 0) {
    for (const int signal : kPassedOn) ::signal(signal, SIG_DFL);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  child = process;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  child = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool was_lost(int code) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGFPE})
    if (code == 128 + signal) return true;
  return code == kLost;
}

// Without "NAME VALUE" and "NAME=VALUE".
void drop_option(std::vector<std::string>& command, const std::string& name) {
  for (size_t i = 0; i < command.size();) {
    const bool alone = command[i] == name;
    if (alone || command[i].starts_with(name + "=")) {
      const auto at = command.begin() + static_cast<ptrdiff_t>(i);
      command.erase(at, at + (alone && i + 1 < command.size() ? 2 : 1));
    } else {
      ++i;
    }
  }
}

// The arguments with which the run goes on.
std::vector<std::string> resuming(std::vector<std::string> command, const Supervision& what) {
  if (what.job.empty() || std::find(command.begin(), command.end(), "--continue") != command.end()) return command;
  drop_option(command, "--out");
  const auto job = std::find(command.begin() + 1, command.end(), what.job.string());
  if (job != command.end()) command.erase(job);
  command.insert(command.end(), {"--resume", what.run});
  return command;
}

// Ranks that are being ended may have the folder for a moment.
void wait_for_lock(const std::filesystem::path& run) {
  for (int tries = 0; tries < 100; ++tries) try {
      return check_not_locked(run, RunUse::resume);
    } catch (const Error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

bool is_absent_or_empty(const std::filesystem::path& folder) {
  std::error_code ignored;
  return !std::filesystem::exists(folder, ignored) || std::filesystem::is_empty(folder, ignored);
}

// Whether there is something to go on from; what else a lost training left in a folder that was `fresh` is removed.
bool can_go_on(const Supervision& what, bool fresh) {
  if (is_s3(what.run)) return true;
  wait_for_lock(what.run);
  if (!states_of(what.run).empty()) return true;
  std::error_code ignored;
  if (fresh) std::filesystem::remove_all(what.run, ignored);
  return false;
}

}  // namespace

int supervise(const Supervision& what) {
  const PassingOn signals;
  std::vector<std::string> command = own_command();
  drop_option(command, "--restarts");
  const std::vector<std::string> first = command;
  const bool fresh = is_absent_or_empty(what.run);
  for (int restart = 1;; ++restart) {
    const int code = run_process(command);
    if (!was_lost(code) || stopped || restart > what.restarts) return code;
    const bool goes_on = can_go_on(what, fresh);
    command = goes_on ? resuming(first, what) : first;
    if (!what.quiet)
      complain(fmt::format("the training was lost (exit code {}): start {} of {}, {}", code, restart + 1,
                           what.restarts + 1, goes_on ? "from its newest checkpoint" : "from its beginning"));
  }
}

}  // namespace retrace::cli
