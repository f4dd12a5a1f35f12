#include "retrace/device/cuda/emulation/epochs.h"

namespace retrace::cuda::emulation {

void Ordering::begin_launch() {
  releases_.clear();
  begin_block();
}

void Ordering::begin_block() {
  acquired_.clear();
  fences_.clear();
}

void Ordering::fence(unsigned thread, const Epochs& epochs) {
  if (thread >= fences_.size()) fences_.resize(thread + 1);
  fences_[thread] = epochs.now;
}

void Ordering::atomic(size_t address, unsigned thread, const Epochs& epochs) {
  const bool releases = thread < fences_.size() && fences_[thread] != 0;
  if (!releases && releases_.empty()) return;
  if (const auto found = releases_.find(address); found != releases_.end())
    acquired_.push_back({&found->second, found->second.size(), epochs.now, thread});
  if (!releases) return;
  const bool alone = std::count(fences_.begin(), fences_.end(), 0u) + 1 == std::ssize(fences_);
  releases_[address].push_back(
      {epochs.block, epochs.now, fences_[thread], thread, alone ? std::vector<uint32_t>() : fences_});
}

// Barriers order the other threads of the block: what they did before the epoch of this thread's fence, or before a
// fence of their own and a barrier between it and the atomic.
bool Ordering::Release::publishes(uint32_t then, unsigned writer) const {
  if (then < fence || (then == fence && (writer == thread || writer == kManyThreads))) return true;
  return then < at && writer < fences.size() && fences[writer] >= then;
}

bool Ordering::ordered(uint32_t then, unsigned writer, unsigned thread, const Epochs& epochs) const {
  for (const auto& acquired : acquired_) {
    if (acquired.thread != thread && acquired.at == epochs.now) continue;
    const auto end = acquired.releases->begin() + static_cast<std::ptrdiff_t>(acquired.count);
    auto release = std::lower_bound(acquired.releases->begin(), end, then,
                                    [](const Release& r, uint32_t epoch) { return r.at < epoch; });
    for (; release != end && release->block <= then; ++release)
      if (release->publishes(then, writer)) return true;
  }
  return false;
}

}  // namespace retrace::cuda::emulation
