#include "retrace/cli/watched_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "retrace/base/file.h"
#include "retrace/cli/output.h"

namespace retrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEnded = 77;                                              // as that of ErrorKind::lost
constexpr double kAfterLoss = 2, kAfterResult = 10, kAfterSignal = 30;  // seconds
constexpr std::array<int, 5> kPassedOn = {SIGTERM, SIGHUP, SIGUSR1, SIGXCPU, SIGINT};

volatile sig_atomic_t child = 0, stopped = 0;

void pass_on(int signal) {
  stopped = signal;
  // A terminal sends SIGINT to the child, too.
  if (child > 0 && signal != SIGINT) ::kill(child, signal);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Standard error of the process goes to `error`, its standard output to `output`, and what `quiet` says to /dev/null;
// -1 and false: to ours.
pid_t start_process(const std::vector<std::string>& command, int error, bool quiet, int output = -1) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int nothing = quiet ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
  const pid_t process = ::fork();
  if (process == 0) {
    for (const int signal : kPassedOn) ::signal(signal, SIG_DFL);
    if (error >= 0) ::dup2(error, STDERR_FILENO);
    if (output >= 0) ::dup2(output, STDOUT_FILENO);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (quiet) ::dup2(nothing, stream);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  const int reason = errno;
  if (nothing >= 0) ::close(nothing);
  if (process < 0)
    throw Error(ErrorKind::unavailable, 665, "the system gives no process for the training").got(system_reason(reason));
  return process;
}

// The processes that this one, or one of those, has started and not ended.
std::vector<pid_t> processes_under(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry("/proc", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    pid_t process = 0, parent = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc()) continue;
    std::ifstream file(entry->path() / "stat");
    std::string text;
    std::getline(file, text);
    const size_t state = text.rfind(')') + 4;  // "1 (a program) S 0 ..."
    if (text.size() <= state) continue;
    std::from_chars(text.data() + state, text.data() + text.size(), parent);
    children.emplace(parent, process);
  }
  std::vector<pid_t> found{root};
  for (size_t i = 0; i < found.size(); ++i)
    for (auto [child, last] = children.equal_range(found[i]); child != last; ++child) found.push_back(child->second);
  found.erase(found.begin());
  return found;
}

void kill_all(pid_t root) {
  for (const pid_t process : processes_under(root)) ::kill(process, SIGKILL);
  ::kill(root, SIGKILL);
}

// What a shell would say.
int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// The standard error of a launcher, without the reports.
class ErrorStream {
 public:
  ErrorStream() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorKind::unavailable, 665, "the system gives no pipe for the training").got(system_reason(errno));
    reads_ = FileDescriptor(ends[0]), writes_ = FileDescriptor(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  int for_process() const { return writes_.get(); }
  // The process has it.
  void begin() { writes_ = FileDescriptor(); }

  // Waits a moment for something, and hands on all that is there.
  void relay(RankReports& reports, int milliseconds) {
    pollfd ready{reads_.get(), POLLIN, 0};
    if (::poll(&ready, 1, milliseconds) <= 0) return;
    char bytes[4096];
    ssize_t count = 0;
    while ((count = ::read(reads_.get(), bytes, sizeof bytes)) > 0)
      tell(reports.take({bytes, static_cast<size_t>(count)}));
    if (count == 0) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));  // closed: poll() is no wait
  }
  static void tell(std::string text) {
    if (!text.empty()) standard_error().write(std::move(text));
  }

 private:
  FileDescriptor reads_, writes_;
};

// Whether a launcher has gone on for too long.
class Deadline {
 public:
  explicit Deadline(double begin) : begin_(begin) {}
  bool is_over(const RankReports& reports) {
    if (!reports.all_here() && !reports.lost() && !stopped) return seconds_since(start_) > begin_;
    return over(reports.lost(), loss_, kAfterLoss) || over(reports.result(), result_, kAfterResult) ||
           over(stopped && stopped != SIGUSR1, signal_, kAfterSignal);
  }

 private:
  static bool over(bool now, Clock::time_point& since, double seconds) {
    if (!now) return false;
    if (since == Clock::time_point()) since = Clock::now();
    return seconds_since(since) > seconds;
  }
  const double begin_;
  Clock::time_point start_ = Clock::now(), loss_, result_, signal_;
};

}  // namespace

SignalsToChild::SignalsToChild() {
  static_assert(std::tuple_size_v<decltype(before_)> == kPassedOn.size());
  struct sigaction action{};
  action.sa_handler = pass_on;
  for (size_t i = 0; i < kPassedOn.size(); ++i) {
    ::sigaction(kPassedOn[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kPassedOn[i], &action, nullptr);
  }
}

SignalsToChild::~SignalsToChild() {
  for (size_t i = 0; i < kPassedOn.size(); ++i) ::sigaction(kPassedOn[i], &before_[i], nullptr);
}

int SignalsToChild::last() { return stopped; }

ProcessEnd run_process(const std::vector<std::string>& command, const Watch& watch) {
  if (!watch.launched) {
    const pid_t process = start_process(command, -1, false);
    child = process;
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    child = 0;
    ProcessEnd end;
    end.code = code_of(status);
    return end;
  }
  constexpr int kStep = 20;  // milliseconds
  ErrorStream stream;
  RankReports reports;
  Deadline deadline(watch.begin);
  ProcessEnd end;
  const pid_t process = start_process(command, stream.for_process(), false);
  child = process;
  stream.begin();
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    stream.relay(reports, kStep);
    if (end.forced || !deadline.is_over(reports)) continue;
    end.forced = true;
    kill_all(process);
  }
  child = 0;
  stream.relay(reports, 0);
  ErrorStream::tell(reports.rest());
  end.code = end.forced ? kEnded : code_of(status);
  end.begun = reports.any_here(), end.result = reports.result(), end.ended = reports.ended();
  end.silent = reports.silent(), end.silent_hosts = reports.silent_hosts();
  return end;
}

ProcessOutput output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorKind::unavailable, 665, "the system gives no pipe for a program").got(system_reason(errno));
  const FileDescriptor reads(ends[0]);
  FileDescriptor writes(ends[1]);
  const pid_t process = start_process(command, -1, false, writes.get());
  writes = FileDescriptor();
  ProcessOutput output;
  char bytes[4096];
  for (;;) {
    const ssize_t count = ::read(reads.get(), bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR)) break;
    if (count > 0) output.text.append(bytes, static_cast<size_t>(count));
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  output.code = code_of(status);
  return output;
}

std::vector<bool> succeed_within(double seconds, const std::vector<std::vector<std::string>>& commands) {
  std::vector<pid_t> processes;
  for (const auto& command : commands) processes.push_back(start_process(command, -1, true));
  std::vector<bool> good(commands.size());
  const auto start = Clock::now();
  for (size_t left = processes.size(); left > 0 && seconds_since(start) < seconds;) {
    for (size_t i = 0; i < processes.size(); ++i) {
      int status = 0;
      if (processes[i] == 0 || ::waitpid(processes[i], &status, WNOHANG) == 0) continue;
      good[i] = code_of(status) == 0, processes[i] = 0, --left;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (const pid_t process : processes) {
    if (process == 0) continue;
    kill_all(process);
    ::waitpid(process, nullptr, 0);
  }
  return good;
}

}  // namespace retrace::cli
