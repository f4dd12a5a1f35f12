#include "retrace/distributed/mpi_watch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "retrace/base/warning.h"
#include "retrace/distributed/group_errors.h"

namespace retrace {

// One that waits in an exchange before this one lives.
void MpiWatch::look(const std::vector<int>& missing, From from, bool tells) {
  job_.pulse.set_waiting(std::max<uint64_t>(job_.exchanges, 1));  // another thread that waited may be done
  if (watched_.empty()) {
    watched_.resize(static_cast<size_t>(job_.size()));
    patience_.look(), waited_ = 0;
    job_.pulse.ask(missing);
    return;
  }
  if (!patience_.is_time()) return;
  const double passed = patience_.look();
  double longest = 0, shortest = std::numeric_limits<double>::infinity();
  for (int peer : missing) {
    double& quiet = watched_[static_cast<size_t>(peer)].quiet;
    quiet = is_alive(peer) ? 0 : quiet + passed;
    longest = std::max(longest, quiet), shortest = std::min(shortest, quiet);
  }
  if ((from == From::each ? longest : shortest) >= seconds_) {
    std::vector<int> silent;
    for (int peer : missing)
      if (watched_[static_cast<size_t>(peer)].quiet >= seconds_ / 2) silent.push_back(peer);
    job_.note_silent(silent);
    throw members_missing(what_, seconds_, silent);
  }
  const bool tell = tells && waited_ < patience_.silence() && waited_ + passed >= patience_.silence();
  waited_ += passed;
  if (tell && sign_ == SignOfLife::work) warn(still_waiting(job_.rank(), what_, waited_, missing));
  job_.pulse.ask(missing);
}

bool MpiWatch::is_alive(int peer) {
  const MpiState state = job_.pulse.state(peer);
  Watch& watch = watched_[static_cast<size_t>(peer)];
  if (state.answers == watch.answers) return false;
  const bool first = std::exchange(watch.answers, state.answers) == 0;
  if (sign_ == SignOfLife::answer) return true;
  const bool computes = watch.signs.note(state.processor_seconds);
  return !first && (computes || (state.waits_in > 0 && state.waits_in < job_.exchanges));
}

}  // namespace retrace
