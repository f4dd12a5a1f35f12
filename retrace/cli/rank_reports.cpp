#include "retrace/cli/rank_reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/options.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/mpi_group.h"

namespace retrace::cli {
namespace {

// ASCII's record separator, which no text of ours and of launchers has.
constexpr std::string_view kBegin = "\x1eretrace ";
constexpr size_t kLongest = 1000;

// In one write, so that the launcher does not cut it.
void report(const std::string& text) {
  if (!environment_switch(EnvironmentVariable::supervised, false) || !detect_launcher().present) return;
  write_all(STDERR_FILENO, std::string(kBegin) + text + "\n");
}

// Of Open MPI: "mpirun noticed that process rank 2 with PID 4711 on node host3 exited on signal 9 (Killed)."; of Slurm:
// "srun: error: host3: task 2: Killed".
RankReports::Ended ended_by_signal(const std::string& line) {
  constexpr std::string_view begin = "noticed that process rank ";
  const size_t at = line.find(begin);
  const bool slurm = line.starts_with("srun: error: ") && line.find("Exited with exit code") == std::string::npos;
  if (at == std::string::npos && !slurm) return {};
  std::istringstream words(slurm ? line : line.substr(at + begin.size()));
  words.imbue(std::locale::classic());
  RankReports::Ended found;
  std::string word;
  if (slurm) {
    words >> word >> word >> found.host >> word >> found.rank;
    if (!found.host.empty()) found.host.pop_back();  // the colon
    return words && word == "task" ? found : RankReports::Ended();
  }
  words >> found.rank;
  while (words >> word && word != "signal")
    if (word == "node") words >> found.host;
  return words ? found : RankReports::Ended();
}

}  // namespace

void report_here() {
  const Launcher launcher = detect_launcher();
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  report(fmt::format("here {} {} {}", launcher.rank, launcher.size, host));
}

void report_loss(const Error& error) noexcept {
  try {
    constexpr int told = 610;  // by one that says itself what it is
    if (error.kind() == ErrorKind::lost && error.code() != told)
      report(fmt::format("lost {}", joined(silent_ranks(), " ")));
  } catch (const std::exception&) {
    // The error itself is told.
  }
}

void report_result() { report("result"); }

std::string RankReports::take(std::string_view bytes) {
  std::string text;
  held_ += bytes;
  const auto done = [&] {
    look_at_launcher(text);
    return std::move(text);
  };
  for (;;) {
    const size_t begin = held_.find(kBegin[0]);
    text += held_.substr(0, begin);
    held_.erase(0, begin);
    if (held_.empty()) return done();
    const size_t end = held_.find('\n');
    const bool ours = held_.starts_with(kBegin) || (held_.size() < kBegin.size() && kBegin.starts_with(held_));
    if (ours && end == std::string::npos && held_.size() < kLongest) return done();
    if (ours && end != std::string::npos) {
      note(std::string_view(held_).substr(kBegin.size(), end - kBegin.size()));
      held_.erase(0, end + 1);
    } else {
      text += held_[0];
      held_.erase(0, 1);
    }
  }
}

std::string RankReports::rest() { return std::exchange(held_, {}); }

void RankReports::note(std::string_view line) {
  std::istringstream words{std::string(line)};
  words.imbue(std::locale::classic());
  std::string what, host;
  int rank = 0;
  words >> what;
  if (what == "here" && words >> rank >> size_ >> host) hosts_[rank] = host;
  if (what == "result") result_ = true;
  if (what != "lost") return;
  lost_ = true;
  while (words >> rank) silent_.insert(rank);
}

void RankReports::look_at_launcher(std::string_view text) {
  for (const char c : text) {
    if (c != '\n') {
      if (line_.size() < kLongest) line_ += c;
      continue;
    }
    if (ended_.rank < 0) ended_ = ended_by_signal(line_);
    line_.clear();
  }
}

std::set<std::string> RankReports::silent_hosts() const {
  std::set<std::string> hosts;
  for (const int rank : silent_)
    if (const auto found = hosts_.find(rank); found != hosts_.end()) hosts.insert(found->second);
  return hosts;
}

}  // namespace retrace::cli
