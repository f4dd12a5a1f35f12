#pragma once
// What ranks tell the command that watches over them (supervisor.h), in lines of their standard error that the launcher
// brings, and nobody else sees.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "retrace/base/error.h"

namespace retrace::cli {

// Of a rank that is watched over, nothing else: where it is, once all have begun; and which others it misses.
void report_here();
void report_loss(const Error& error) noexcept;

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
  // Those that are missed.
  const std::set<int>& silent() const { return silent_; }
  // Their hosts; none if those ranks never said where they are.
  std::set<std::string> silent_hosts() const;

 private:
  void note(std::string_view line);

  std::string held_;  // the beginning of a line that may be a report
  std::map<int, std::string> hosts_;
  int size_ = 0;
  bool lost_ = false;
  std::set<int> silent_;
};

}  // namespace retrace::cli
