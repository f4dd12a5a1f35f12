#include "retrace/distributed/mpi_group.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/mpi_exchange.h"
#include "retrace/distributed/mpi_job.h"
#include "retrace/distributed/mpi_watch.h"
#include "retrace/distributed/worker.h"

namespace retrace {
namespace {

// The time that a process gives others to end first.
constexpr std::chrono::seconds kLast{1};

// The time for the other ranks to begin, unless the program sets another.
constexpr double kSeconds = 60;

// Waits for all ranks at the end of the program; whether each of them says so.
bool everyone_has(MpiJob& job, bool mine, double seconds) {
  const auto members = static_cast<size_t>(job.size());
  std::vector<char> all(members);
  const char own = mine;
  std::vector<Received> received;
  for (char& one : all) received.push_back({&one, 1});
  mpi_exchange(job, std::vector<Sent>(members, Sent{&own, 1}), received, "the end of the program", seconds,
               SignOfLife::answer);
  return std::find(all.begin(), all.end(), 0) == all.end();
}

struct Membership;
std::atomic<Membership*> running{nullptr};

// The job until the end of the process. MPI is ended where all ranks have come to their end. A rank that still waits
// for this one in a collective learns it.
struct Membership {
  explicit Membership(double patience) : seconds(patience), job(patience) { running = this; }
  ~Membership() {
    running = nullptr;
    if (!job.mpi.place().ours || job.failed()) return;
    try {
      if (!met) everyone_has(job, true, seconds);
      // Messages that nobody received: MPI is ended once they have left.
      const auto end = std::chrono::steady_clock::now() + kLast;
      bool settled = false;
      while (!(settled = job.mail.settle(job.mpi)) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      if (!everyone_has(job, settled, seconds)) job.mpi.leave();
    } catch (const std::exception& problem) {
      const auto* const error = dynamic_cast<const Error*>(&problem);
      // Nothing else ends the ranks that are silent. mpirun's exit code is that of the first to end, so who only heard
      // of it waits for one that knows the error; but it must not end without a word, for which mpirun returns 1.
      if (job.silent().empty()) std::this_thread::sleep_for(kLast);
      job.mpi.abort(exit_code(error ? error->kind() : ErrorKind::lost));
    }
  }

  const double seconds;  // without an answer of a rank
  bool met = false;      // all have come to their end
  MpiJob job;
};

// The seconds count where it is the first call.
MpiJob& this_job(double seconds) {
  static Membership membership(seconds);
  return membership.job;
}

class MpiGroup : public Group {
 public:
  // Of the first `size` ranks.
  MpiGroup(MpiJob& job, double seconds, int size) : job_(job), seconds_(seconds), size_(size) {}
  int rank() const override { return job_.rank(); }
  int size() const override { return size_; }

  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) override {
    mpi_exchange(job_, sent, received, what, seconds_);
  }

  void send(int to, Message message) override { job_.mail.send(job_.mpi, to, message); }
  std::optional<Message> take(int from, int tag) override { return job_.mail.take(job_.mpi, from, tag); }
  bool has(int from, int tag) override { return job_.mail.has(job_.mpi, from, tag); }
  Message receive(int from, int tag) override;
  void set_awaited(bool awaited) noexcept override { job_.awaited = awaited; }
  bool is_local() const override { return false; }

  void fail(const std::string& why) noexcept override { job_.fail(why); }

  double seconds() const override { return seconds_; }
  std::shared_ptr<Group> first(int n) override;
  void join(int n) override;

 private:
  Message wait_for_message(int from, int tag);

  MpiJob& job_;
  const double seconds_;
  const int size_;
};

// For a rank outside, whoever waits in an exchange of the others lives (MpiWatch): its own come after all of those.
std::shared_ptr<Group> MpiGroup::first(int n) {
  constexpr uint64_t after_all = uint64_t{1} << 62;
  if (rank() >= n) job_.exchanges = after_all;
  return std::make_shared<MpiGroup>(job_, seconds_, n);
}

// The ranks outside get to know how many exchanges there were.
void MpiGroup::join(int n) {
  if (rank() >= n) job_.exchanges = Portable<uint64_t>::value(receive(0, kJoinTag).bytes);
  if (rank() != 0) return;
  for (int r = n; r < size(); ++r) send(r, {.tag = kJoinTag, .bytes = Portable<uint64_t>::bytes(job_.exchanges)});
}

Message MpiGroup::receive(int from, int tag) {
  try {
    Message message = wait_for_message(from, tag);
    job_.pulse.set_waiting(0);
    return message;
  } catch (const std::exception& error) {
    job_.pulse.set_waiting(0);
    job_.fail(reason_of(error));
    throw;
  }
}

// Looks again at once for a short while, then ever less often.
Message MpiGroup::wait_for_message(int from, int tag) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::duration<double> spin{50e-6}, longest{1e-3};
  std::vector<int> senders;
  for (int r = 0; r < size(); ++r)
    if (r != rank() && (from == kAny || from == r)) senders.push_back(r);
  MpiWatch watch(job_, "receive", seconds_);
  const auto start = Clock::now();
  for (;;) {
    if (auto message = job_.mail.take(job_.mpi, from, tag)) return std::move(*message);
    job_.check_failure();
    if (senders.empty()) throw no_message(rank(), from, tag);
    const std::chrono::duration<double> idle = Clock::now() - start;
    if (idle < spin) {
      std::this_thread::yield();
      continue;
    }
    if (idle.count() > watch.step()) watch.look(senders, MpiWatch::From::any, true);
    std::this_thread::sleep_for(std::min(idle / 8, longest));
  }
}

}  // namespace

std::shared_ptr<Group> mpi_group(double seconds) {
  MpiJob& job = this_job(seconds);
  return std::make_shared<MpiGroup>(job, seconds, job.size());
}

MpiPlace mpi_place() {
  const RetraceMpiPlace& place = this_job(kSeconds).mpi.place();
  return {place.local_rank, place.local_size, place.host};
}

std::vector<int> silent_ranks() {
  Membership* const membership = running;
  return membership ? membership->job.silent() : std::vector<int>();
}

void meet_at_end() {
  Membership* const membership = running;
  if (!membership || std::exchange(membership->met, true)) return;
  everyone_has(membership->job, true, membership->seconds);
}

void abort_mpi(int code) {
  if (Membership* const membership = running) membership->job.mpi.abort(code);
}

}  // namespace retrace
