#include "retrace/cli/supervisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/options.h"
#include "retrace/cli/arguments.h"
#include "retrace/cli/output.h"
#include "retrace/cli/watched_process.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/profile.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/run_lock.h"

namespace retrace::cli {
namespace {

constexpr int kLost = 77;       // the exit code of ErrorKind::lost
constexpr double kAnswer = 10;  // seconds that a host has to run a program that does nothing

bool was_lost(int code) {
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGFPE})
    if (code == 128 + signal) return true;
  return code == kLost;
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

// Whether the lost training had brought its run to the end.
bool has_ended(const Supervision& what) {
  if (is_s3(what.run)) return false;
  wait_for_lock(what.run);
  return is_at_end(what.run);
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

// The hosts of the profile on which its launcher runs no program; none if there is no launcher that could tell, or if
// that is so of all.
std::set<std::string> hosts_that_do_not_answer(const ClusterProfile& profile) {
  std::vector<std::vector<std::string>> commands;
  for (const auto& host : profile.hosts) {
    ClusterProfile one = profile;
    one.hosts = {host};
    commands.push_back(launch_command(one, 1, std::vector<std::string>{"true"}));
  }
  const auto answers = succeed_within(kAnswer, commands);
  std::set<std::string> silent;
  for (size_t i = 0; i < answers.size(); ++i)
    if (!answers[i]) silent.insert(profile.hosts[i].substr(0, profile.hosts[i].rfind(':')));
  return silent.size() < answers.size() ? silent : std::set<std::string>();
}

// ": worker 2 gave no sign of life on node3", ": worker 2 was ended by signal 9 on node3"
std::string who_was_lost(const ProcessEnd& end) {
  constexpr int by_signal = 128;
  const auto& [rank, host] = end.ended;
  if (end.silent.empty() && (rank < 0 || end.code <= by_signal)) return "";
  if (end.silent.empty())
    return fmt::format(": worker {} was ended by signal {} on {}", rank, end.code - by_signal, host);
  return fmt::format(": worker {} gave no sign of life{}", joined(end.silent, ", "),
                     end.silent_hosts.empty() ? "" : fmt::format(" on {}", joined(end.silent_hosts, ", ")));
}

// Whether the launcher shows that a host is lost: it could not end by itself, since it waits for its own processes
// there, or it could not begin.
bool has_lost_hosts(const ProcessEnd& end) {
  constexpr int failed = 1;  // of mpirun; no code of ours
  return end.forced || (!end.begun && end.code == failed);
}

// Leaves the hosts out that are lost. Returns what the user is told of it; "": there are none.
std::string leave_lost_hosts_out(const Supervision& what, const ProcessEnd& end) {
  const ClusterProfile before = cluster_profile(what.profile);
  const auto lost = end.silent_hosts.empty() ? hosts_that_do_not_answer(before) : end.silent_hosts;
  auto all = environment_list(EnvironmentVariable::without_hosts);
  all.insert(all.end(), lost.begin(), lost.end());
  if (lost.empty() || before.hosts.empty()) return "";
  const ClusterProfile left = without_hosts(before, all);
  ::setenv("RETRACE_WITHOUT_HOSTS", joined(all, ",").c_str(), 1);
  return fmt::format(", without {}, on {} worker{}", joined(lost, ", "), left.workers, left.workers == 1 ? "" : "s");
}

}  // namespace

std::optional<int> supervise(const Supervision& what) {
  const SignalsToChild signals;
  std::vector<std::string> command = own_command();
  drop_option(command, "--restarts");
  const std::vector<std::string> first = command;
  const bool fresh = is_absent_or_empty(what.run);
  const bool launched = !what.profile.empty() && cluster_profile(what.profile).engine != "local";
  if (launched) ::setenv("RETRACE_SUPERVISED", "on", 1);
  for (int restart = 1;; ++restart) {
    const ProcessEnd end =
        run_process(command, {.launched = launched, .begin = std::max(what.timeout, kLeastSecondsToBegin) + kAnswer});
    const bool hosts = launched && has_lost_hosts(end);
    if ((!hosts && !was_lost(end.code)) || SignalsToChild::last()) return end.code;
    if (end.result) return 0;
    const std::string who = fmt::format("the training was lost (exit code {}){}", end.code, who_was_lost(end));
    if (has_ended(what)) {
      if (!what.quiet) complain(who + ", after the end of its run");
      return std::nullopt;
    }
    if (restart > what.restarts) return end.code;
    const std::string without = hosts ? leave_lost_hosts_out(what, end) : "";
    if (without.empty() && !was_lost(end.code)) return end.code;
    const bool goes_on = can_go_on(what, fresh);
    command = goes_on ? resuming(first, what) : first;
    if (!what.quiet)
      complain(fmt::format("{}: start {} of {}, {}{}", who, restart + 1, what.restarts + 1,
                           goes_on ? "from its newest checkpoint" : "from its beginning", without));
  }
}

}  // namespace retrace::cli
