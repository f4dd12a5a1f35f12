#include "retrace/distributed/mpi_group.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "retrace/distributed/mpi_exchange.h"
#include "retrace/distributed/mpi_job.h"

namespace retrace {
namespace {

// The time that a process gives others to end first.
constexpr std::chrono::seconds kLast{1};

// The time for the other ranks to begin, unless the program sets another.
constexpr double kSeconds = 60;

std::atomic<MpiJob*> running{nullptr};

// The job until the end of the process. MPI is ended where all ranks have come to their end. A rank that still waits
// for this one in a collective learns it.
struct Membership {
  explicit Membership(double seconds) : job(seconds) { running = &job; }
  ~Membership() {
    running = nullptr;
    if (!job.mpi.place().ours || job.failed()) return;
    const auto members = static_cast<size_t>(job.size());
    try {
      mpi_exchange(job, std::vector<Sent>(members), std::vector<Received>(members), "the end of the program",
                   std::numeric_limits<double>::infinity());
    } catch (const std::exception&) {
      std::this_thread::sleep_for(kLast);  // mpirun's exit code is that of the first to end: one that knows the error
    }
  }

  MpiJob job;
};

// The seconds count where it is the first call.
MpiJob& this_job(double seconds) {
  static Membership membership(seconds);
  return membership.job;
}

class MpiGroup : public Group {
 public:
  MpiGroup(MpiJob& job, double seconds) : job_(job), seconds_(seconds) {}
  int rank() const override { return job_.rank(); }
  int size() const override { return job_.size(); }

  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) override {
    mpi_exchange(job_, sent, received, what, seconds_);
  }

  void fail(const std::string& why) noexcept override { job_.fail(why); }

 private:
  MpiJob& job_;
  const double seconds_;
};

}  // namespace

std::shared_ptr<Group> mpi_group(double seconds) { return std::make_shared<MpiGroup>(this_job(seconds), seconds); }

MpiPlace mpi_place() {
  const RetraceMpiPlace& place = this_job(kSeconds).mpi.place();
  return {place.local_rank, place.local_size, place.host};
}

void abort_mpi(int code) {
  if (MpiJob* const job = running) job->mpi.abort(code);
}

}  // namespace retrace
