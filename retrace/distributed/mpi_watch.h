#pragma once
// Looks after the ranks that a rank waits for: whether they give signs of life.

#include <vector>

#include "retrace/distributed/mpi_job.h"
#include "retrace/distributed/patience.h"

namespace retrace {

// What is a sign of life: that a rank computes, or waits itself; or any answer, of one that may wait for a disk or for
// whomever it serves.
enum class SignOfLife { work, answer };

class MpiWatch {
 public:
  // `what` names what is waited in; seconds: how long without a sign of life.
  MpiWatch(MpiJob& job, const char* what, double seconds, SignOfLife sign = SignOfLife::work)
      : job_(job), what_(what), seconds_(seconds), sign_(sign) {}
  // Something has come: the time counts anew.
  void reset() { watched_.clear(); }
  // The time between two looks.
  double step() const { return patience_.step(); }
  // Called once in a while, with the ranks from which something is missing: from each of them, or from any one. Throws
  // Error(lost) if one, or all of them, gave no sign of life for too long; `tells`: the user is warned before.
  enum class From { each, any };
  void look(const std::vector<int>& missing, From from, bool tells);

 private:
  bool is_alive(int peer);

  // Of a peer that is waited for.
  struct Watch {
    uint64_t answers = 0;
    SignsOfLife signs;
    double quiet = 0;
  };
  MpiJob& job_;
  const char* what_;
  const double seconds_;
  const SignOfLife sign_;
  std::vector<Watch> watched_;  // by rank; empty until one has to be waited for
  Patience patience_{seconds_};
  double waited_ = 0;
};

}  // namespace retrace
