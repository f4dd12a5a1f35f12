// To each peer goes a packet (which collective this is, and the message itself if it is short), and then the rest of
// the message in parts; from each peer a packet is expected, and once it has been seen to belong to the same
// collective, its parts go straight to where they are wanted. MPI keeps the order of messages between two ranks, so the
// n-th packet of a peer is that of its n-th exchange.

#include "retrace/distributed/mpi_exchange.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/distributed/group_errors.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kSpin{50e-6}, kShortestSleep{50e-6}, kLongestSleep{1e-3};
// The time for which a member that gives up lets the others take what it has sent already.
constexpr Seconds kFarewell{0.1};

class Transfers {
 public:
  Transfers(MpiJob& job, std::span<const Sent> sent, std::span<const Received> received, const char* what,
            double seconds, SignOfLife sign)
      : job_(job),
        sent_(sent),
        received_(received),
        what_(what),
        here_(sent.size()),
        watch_(job, what, seconds, sign) {}

  void run();
  // After an error: the memory of the messages will not be here any longer.
  void abandon() noexcept;

 private:
  struct Pending {
    enum { packet, part, sending } kind;
    int peer;
    RetraceMpiRequest request;
  };

  void start();
  void send(int peer);
  void take(int peer);
  bool advance();
  bool moving() const;
  size_t part_bytes(size_t message) const;
  void wait();
  void look();
  std::vector<int> missing() const;

  MpiJob& job_;
  std::span<const Sent> sent_;
  std::span<const Received> received_;
  const char* what_;
  std::vector<bool> here_;  // peers whose packet has come
  std::vector<Pending> pending_;
  Clock::time_point moved_ = Clock::now();
  MpiWatch watch_;
};

void Transfers::run() {
  job_.check_failure();
  start();
  while (!pending_.empty())
    if (advance())
      moved_ = Clock::now(), watch_.reset();
    else
      wait();
  job_.pulse.set_waiting(0);
  // A member that failed may have let go of what it sent before all of it was taken.
  for (const auto& message : received_)
    if (message.bytes > sizeof MpiPacket::message) return job_.check_failure();
}

void Transfers::start() {
  ++job_.exchanges;
  const int own = job_.rank(), size = static_cast<int>(sent_.size());
  const auto self = static_cast<size_t>(own);
  ensure(sent_[self].bytes == received_[self].bytes, "a message arrives with its size");
  for (int i = 1; i < size; ++i) {
    const int peer = (own + i) % size;
    MpiPacket& packet = job_.incoming[static_cast<size_t>(peer)];
    pending_.push_back({Pending::packet, peer, job_.mpi.receive(&packet, sizeof packet, peer, kPacketTag)});
  }
  for (int i = 1; i < size; ++i) send((own + i) % size);
  if (sent_[self].bytes) std::memcpy(received_[self].data, sent_[self].data, sent_[self].bytes);
}

void Transfers::send(int peer) {
  const Sent& message = sent_[static_cast<size_t>(peer)];
  MpiPacket& packet = job_.outgoing[static_cast<size_t>(peer)];
  packet.exchange = job_.exchanges, packet.bytes = message.bytes;
  std::strncpy(packet.what, what_, sizeof packet.what - 1);
  const bool whole = MpiPacket::holds(message.bytes);
  if (whole && message.bytes) std::memcpy(packet.message, message.data, message.bytes);
  const size_t bytes = offsetof(MpiPacket, message) + (whole ? message.bytes : 0);
  pending_.push_back({Pending::sending, peer, job_.mpi.send(&packet, bytes, peer, kPacketTag)});
  const size_t part = part_bytes(message.bytes);
  for (size_t first = 0; !whole && first < message.bytes; first += part)
    pending_.push_back({Pending::sending, peer,
                        job_.mpi.send(static_cast<const char*>(message.data) + first,
                                      std::min(part, message.bytes - first), peer, kPartTag)});
}

// The same for both ends.
size_t Transfers::part_bytes(size_t message) const {
  const RetraceMpiPlace& place = job_.mpi.place();
  return place.local_size < place.size && message <= kMostInShortParts ? kMpiShortPartBytes : kMpiPartBytes;
}

// The packet of this peer has come.
void Transfers::take(int peer) {
  const Received& message = received_[static_cast<size_t>(peer)];
  const MpiPacket& packet = job_.incoming[static_cast<size_t>(peer)];
  here_[static_cast<size_t>(peer)] = true;
  ensure(packet.exchange == job_.exchanges, "packets arrive in the order of the exchanges");
  if (std::strncmp(packet.what, what_, sizeof packet.what - 1) != 0)
    throw different_collectives(what_, packet.what, peer);
  ensure(packet.bytes == message.bytes, "a message arrives with its size");
  if (MpiPacket::holds(message.bytes)) {
    if (message.bytes) std::memcpy(message.data, packet.message, message.bytes);
    return;
  }
  const size_t part = part_bytes(message.bytes);
  for (size_t first = 0; first < message.bytes; first += part)
    pending_.push_back({Pending::part, peer,
                        job_.mpi.receive(static_cast<char*>(message.data) + first,
                                         std::min(part, message.bytes - first), peer, kPartTag)});
}

// Whether anything was completed.
bool Transfers::advance() {
  bool moved = false;
  for (size_t i = 0; i < pending_.size();) {
    if (!job_.mpi.test(pending_[i].request)) {
      ++i;
      continue;
    }
    const Pending done = pending_[i];
    pending_[i] = pending_.back();
    pending_.pop_back();
    if (done.kind == Pending::packet) take(done.peer);
    moved = true;
  }
  return moved;
}

// Whether a message is on its way to or from a peer that is here: it advances only while MPI is called.
bool Transfers::moving() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Pending& pending) { return here_[static_cast<size_t>(pending.peer)]; });
}

// Nothing was completed: looks again at once for a short while, then ever less often. While this member computes, its
// threads need the processor.
void Transfers::wait() {
  const auto now = Clock::now();
  const Seconds idle = now - moved_;
  const bool awaited = job_.awaited;
  if (awaited && idle < kSpin) return std::this_thread::yield();
  job_.check_failure();
  if (idle.count() > watch_.step()) look();
  if (!moving())
    std::this_thread::sleep_for(std::clamp<Seconds>(idle / 8, awaited ? Seconds(0) : kShortestSleep, kLongestSleep));
  else if (awaited)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(kShortestSleep);
}

// The peers from which something is missing.
std::vector<int> Transfers::missing() const {
  std::vector<int> peers;
  for (const auto& pending : pending_) peers.push_back(pending.peer);
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

// Once in a while: whether those that are missing live. The first of those that are here tells the user.
void Transfers::look() {
  const std::vector<int> peers = missing();
  int first = 0;
  while (std::binary_search(peers.begin(), peers.end(), first)) ++first;
  watch_.look(peers, MpiWatch::From::each, first == job_.rank());
}

void Transfers::abandon() noexcept {
  try {
    for (auto& pending : pending_)
      if (pending.kind != Pending::sending) job_.mpi.cancel(pending.request);
    const auto start = Clock::now();
    for (; !pending_.empty() && Clock::now() - start < kFarewell; std::this_thread::yield())
      std::erase_if(pending_, [&](auto& pending) { return job_.mpi.test(pending.request); });
  } catch (const std::exception&) {
    // There is an earlier error to report.
  }
}

}  // namespace

void mpi_exchange(MpiJob& job, std::span<const Sent> sent, std::span<const Received> received, const char* what,
                  double seconds, SignOfLife sign) {
  ensure(sent.size() <= static_cast<size_t>(job.size()) && received.size() == sent.size(), "a message for each member");
  Transfers transfers(job, sent, received, what, seconds, sign);
  try {
    transfers.run();
  } catch (const std::exception& error) {
    job.pulse.set_waiting(0);
    job.fail(reason_of(error));
    transfers.abandon();
    throw;
  }
}

}  // namespace retrace
