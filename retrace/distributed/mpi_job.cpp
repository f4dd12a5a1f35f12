#include "retrace/distributed/mpi_job.h"

#include <chrono>
#include <thread>

#include "retrace/distributed/group_errors.h"

namespace retrace {
namespace {

// The time that telling the others may take.
constexpr std::chrono::seconds kTelling{1};

}  // namespace

MpiJob::MpiJob(double seconds) : mpi(seconds), pulse(mpi) {
  outgoing.resize(static_cast<size_t>(size()));
  incoming.resize(outgoing.size());
  telling_.reserve(outgoing.size());  // there may be no memory left to say why
  why_.reserve(kLongestReason);
}

bool MpiJob::note_failure(int member, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failed_ >= 0) return false;
  failed_ = member, why_.assign(why, 0, kLongestReason);
  mpi.leave();
  return true;
}

void MpiJob::fail(const std::string& why) noexcept {
  try {
    if (!note_failure(rank(), why)) return;
    for (int peer = 0; peer < size(); ++peer)
      if (peer != rank()) telling_.push_back(mpi.send(why_.data(), why_.size(), peer, kFailureTag));
    const auto end = std::chrono::steady_clock::now() + kTelling;
    for (; !telling_.empty() && std::chrono::steady_clock::now() < end; std::this_thread::yield())
      std::erase_if(telling_, [&](auto& request) { return mpi.test(request); });
  } catch (const std::exception&) {
    // A member that is not told will miss this one.
  }
}

void MpiJob::check_failure() {
  int peer = 0;
  size_t bytes = 0;
  std::unique_lock asking(asking_);  // a message that two threads see has one receiver
  if (mpi.probe(kFailureTag, &peer, &bytes)) {
    std::string why(bytes, '\0');
    auto request = mpi.receive(why.data(), bytes, peer, kFailureTag);
    while (!mpi.test(request)) std::this_thread::yield();
    note_failure(peer, why);
  }
  asking.unlock();
  const std::lock_guard lock(mutex_);
  if (failed_ >= 0) throw member_failed(failed_, why_);
}

void MpiJob::note_silent(const std::vector<int>& ranks) {
  const std::lock_guard lock(mutex_);
  silent_ = ranks;
}

std::vector<int> MpiJob::silent() {
  const std::lock_guard lock(mutex_);
  return silent_;
}

bool MpiJob::failed() {
  const std::lock_guard lock(mutex_);
  return failed_ >= 0;
}

}  // namespace retrace
