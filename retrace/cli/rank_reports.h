#pragma once
// What ranks tell the command that watches over them (supervisor.h), in lines of their standard error that the launcher
// brings, and nobody else sees.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "retrace/base/error.h"

namespace retrace::cli {

// Of a rank that is watched over, nothing else: where it is, once all have begun; that others are lost, and which of
// them it misses; and that the result has been told.
void report_here();
void report_loss(const Error& error) noexcept;
void report_result();

// Reads the standard error of a launcher.
class RankReports {
 public:
  // Takes the next bytes, and returns those that are for the user.
  std::string take(std::string_view bytes);
  // The rest, at the end.
  std::string rest();

  // Whether every rank has said where it is.
  bool all_here() const { return size_ > 0 && hosts_.size() == static_cast<size_t>(size_); }
  bool any_here() const { return !hosts_.empty(); }
  // Whether a rank has said that others are lost.
  bool lost() const { return lost_; }
  // Whether a rank has told the result.
  bool result() const { return result_; }
  // Those that are missed.
  const std::set<int>& silent() const { return silent_; }
  // Their hosts; none if those ranks never said where they are.
  std::set<std::string> silent_hosts() const;
  // The rank that a signal ended first, as the launcher says.
  struct Ended {
    int rank = -1;  // -1: none
    std::string host;
  };
  const Ended& ended() const { return ended_; }

 private:
  void note(std::string_view line);
  void look_at_launcher(std::string_view text);

  std::string held_;  // the beginning of a line that may be a report
  std::string line_;  // the one that the launcher has begun, as far as it matters
  std::map<int, std::string> hosts_;
  int size_ = 0;
  bool lost_ = false, result_ = false;
  Ended ended_;
  std::set<int> silent_;
};

}  // namespace retrace::cli
