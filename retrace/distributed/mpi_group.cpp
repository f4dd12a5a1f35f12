// An exchange over MPI: to each peer goes a packet (which collective this is, and the message itself if it is short),
// and then the rest of the message in parts; from each peer a packet is expected, and once it has been seen to belong
// to the same collective, its parts go straight to where they are wanted. MPI keeps the order of messages between two
// ranks, so the n-th packet of a peer is that of its n-th exchange.

#include "retrace/distributed/mpi_group.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/mpi_library.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

enum Tag { kPacketTag, kPartTag, kFailureTag };

// Below 4 KiB MPI hands a packet over at once, through shared memory as well.
constexpr size_t kPacketBytes = 4000;
constexpr size_t kPartBytes = size_t{64} << 20;
constexpr size_t kFailureBytes = 3000;
constexpr Seconds kSpin{50e-6}, kLongestSleep{1e-3};
// How long a member that gives up lets the others take what it has sent already, and its reason.
constexpr Seconds kFarewell{0.1}, kReason{1};

struct Header {
  uint64_t exchange = 0;
  uint64_t bytes = 0;
  char what[48] = {};
};

struct Packet {
  Header header;
  char message[kPacketBytes - sizeof(Header)];

  bool holds(size_t bytes) const { return bytes <= sizeof message; }
};

// What this process has of the job: one, however many groups look at it.
class World {
 public:
  World() {
    outgoing.resize(static_cast<size_t>(size()));
    incoming.resize(outgoing.size());
    alive = this;
  }
  ~World() { alive = nullptr; }
  static World& get() {
    static World world;
    return world;
  }
  int rank() const { return mpi.place().rank; }
  int size() const { return mpi.place().size; }

  void fail(const std::string& why);
  // Throws Error(lost) if this or another member has failed.
  void check_failure();

  static inline std::atomic<World*> alive{nullptr};

  std::vector<Packet> outgoing, incoming;  // one a peer
  uint64_t exchanges = 0;

 private:
  bool note_failure(int member, const std::string& why);

  std::mutex mutex_;
  int failed_ = -1;
  std::string why_;

 public:
  MpiLibrary mpi;  // ends before the memory of its messages
};

bool World::note_failure(int member, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (failed_ >= 0) return false;
  failed_ = member, why_ = why;
  mpi.leave();
  return true;
}

void World::fail(const std::string& why) {
  if (!note_failure(rank(), why.substr(0, kFailureBytes))) return;
  std::vector<RetraceMpiRequest> requests;
  for (int peer = 0; peer < size(); ++peer)
    if (peer != rank()) requests.push_back(mpi.send(why_.data(), why_.size(), peer, kFailureTag));
  for (const auto start = Clock::now(); !requests.empty() && Clock::now() - start < kReason; std::this_thread::yield())
    std::erase_if(requests, [&](auto& request) { return mpi.test(request); });
}

void World::check_failure() {
  int peer = 0;
  size_t bytes = 0;
  if (mpi.probe(kFailureTag, &peer, &bytes)) {
    std::string why(bytes, '\0');
    auto request = mpi.receive(why.data(), bytes, peer, kFailureTag);
    while (!mpi.test(request)) std::this_thread::yield();
    note_failure(peer, why);
  }
  const std::lock_guard lock(mutex_);
  if (failed_ >= 0) throw member_failed(failed_, why_);
}

class Exchange {
 public:
  Exchange(World& world, std::span<const Sent> sent, std::span<const Received> received, const char* what,
           double seconds)
      : world_(world), sent_(sent), received_(received), what_(what), seconds_(seconds), here_(sent.size()) {}

  void run();
  // After an error: the memory of the messages will not be here any longer.
  void abandon();

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
  void wait();
  void check_time(Clock::time_point now) const;

  World& world_;
  std::span<const Sent> sent_;
  std::span<const Received> received_;
  const char* what_;
  const double seconds_;
  std::vector<bool> here_;  // peers whose packet has come
  std::vector<Pending> pending_;
  Clock::time_point moved_ = Clock::now();
};

void Exchange::run() {
  world_.check_failure();
  start();
  while (!pending_.empty())
    if (advance())
      moved_ = Clock::now();
    else
      wait();
  // A member that failed may have let go of what it sent before all of it was taken.
  for (const auto& message : received_)
    if (message.bytes > sizeof Packet::message) return world_.check_failure();
}

void Exchange::start() {
  ++world_.exchanges;
  const int own = world_.rank(), size = world_.size();
  const auto self = static_cast<size_t>(own);
  ensure(sent_[self].bytes == received_[self].bytes, "a message arrives with its size");
  for (int i = 1; i < size; ++i) {
    const int peer = (own + i) % size;
    Packet& packet = world_.incoming[static_cast<size_t>(peer)];
    pending_.push_back({Pending::packet, peer, world_.mpi.receive(&packet, sizeof packet, peer, kPacketTag)});
  }
  for (int i = 1; i < size; ++i) send((own + i) % size);
  if (sent_[self].bytes) std::memcpy(received_[self].data, sent_[self].data, sent_[self].bytes);
}

void Exchange::send(int peer) {
  const Sent& message = sent_[static_cast<size_t>(peer)];
  Packet& packet = world_.outgoing[static_cast<size_t>(peer)];
  packet.header = {world_.exchanges, message.bytes, {}};
  std::strncpy(packet.header.what, what_, sizeof packet.header.what - 1);
  const bool whole = packet.holds(message.bytes);
  if (whole && message.bytes) std::memcpy(packet.message, message.data, message.bytes);
  const size_t bytes = sizeof packet.header + (whole ? message.bytes : 0);
  pending_.push_back({Pending::sending, peer, world_.mpi.send(&packet, bytes, peer, kPacketTag)});
  for (size_t first = 0; !whole && first < message.bytes; first += kPartBytes)
    pending_.push_back({Pending::sending, peer,
                        world_.mpi.send(static_cast<const char*>(message.data) + first,
                                        std::min(kPartBytes, message.bytes - first), peer, kPartTag)});
}

// The packet of this peer has come.
void Exchange::take(int peer) {
  const Received& message = received_[static_cast<size_t>(peer)];
  const Packet& packet = world_.incoming[static_cast<size_t>(peer)];
  const Header& header = packet.header;
  here_[static_cast<size_t>(peer)] = true;
  ensure(header.exchange == world_.exchanges, "packets arrive in the order of the exchanges");
  if (std::strncmp(header.what, what_, sizeof header.what - 1) != 0)
    throw different_collectives(what_, header.what, peer);
  ensure(header.bytes == message.bytes, "a message arrives with its size");
  if (packet.holds(message.bytes)) {
    if (message.bytes) std::memcpy(message.data, packet.message, message.bytes);
    return;
  }
  for (size_t first = 0; first < message.bytes; first += kPartBytes)
    pending_.push_back({Pending::part, peer,
                        world_.mpi.receive(static_cast<char*>(message.data) + first,
                                           std::min(kPartBytes, message.bytes - first), peer, kPartTag)});
}

// Whether anything was completed.
bool Exchange::advance() {
  bool moved = false;
  for (size_t i = 0; i < pending_.size();) {
    if (!world_.mpi.test(pending_[i].request)) {
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
bool Exchange::moving() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Pending& pending) { return here_[static_cast<size_t>(pending.peer)]; });
}

// Nothing was completed: looks again at once for a short while, then ever less often.
void Exchange::wait() {
  const auto now = Clock::now();
  const Seconds idle = now - moved_;
  if (idle < kSpin) return std::this_thread::yield();
  world_.check_failure();
  check_time(now);
  if (moving()) return std::this_thread::yield();
  std::this_thread::sleep_for(std::min(idle / 8, kLongestSleep));
}

void Exchange::check_time(Clock::time_point now) const {
  if (now - moved_ < Seconds(seconds_)) return;
  std::vector<int> missing;
  for (const auto& pending : pending_) missing.push_back(pending.peer);
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  throw members_missing(what_, seconds_, missing);
}

void Exchange::abandon() {
  for (auto& pending : pending_)
    if (pending.kind != Pending::sending) world_.mpi.cancel(pending.request);
  for (const auto start = Clock::now(); !pending_.empty() && Clock::now() - start < kFarewell;
       std::this_thread::yield())
    std::erase_if(pending_, [&](auto& pending) { return world_.mpi.test(pending.request); });
}

class MpiGroup : public Group {
 public:
  MpiGroup(World& world, double seconds) : world_(world), seconds_(seconds) {}
  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }

  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) override {
    const auto members = static_cast<size_t>(size());
    ensure(sent.size() == members && received.size() == members, "a message for each member");
    Exchange exchange(world_, sent, received, what, seconds_);
    try {
      exchange.run();
    } catch (const std::exception& error) {
      fail(error.what());
      exchange.abandon();
      throw;
    }
  }

  void fail(const std::string& why) noexcept override {
    try {
      world_.fail(why);
    } catch (const std::exception&) {
      // Who is not told will miss this member.
    }
  }

 private:
  World& world_;
  const double seconds_;
};

}  // namespace

std::shared_ptr<Group> mpi_group(double seconds) { return std::make_shared<MpiGroup>(World::get(), seconds); }

MpiPlace mpi_place() {
  const RetraceMpiPlace& place = World::get().mpi.place();
  return {place.local_rank, place.local_size, place.host};
}

void abort_mpi(int code) {
  if (World* const world = World::alive) world->mpi.abort(code);
}

}  // namespace retrace
