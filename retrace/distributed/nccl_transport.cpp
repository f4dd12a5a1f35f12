// NCCL between the devices of ranks, one for each. Members never wait in NCCL: its calls return at once, and the
// members meet on the host until all devices are done, so that a lost member is named as everywhere else. Then, and
// after any other error, the communicator is aborted, which ends what devices still wait for.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/distributed/device_transport.h"
#include "retrace/distributed/nccl.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRound{20};  // until members meet again
constexpr std::chrono::microseconds kLook{20};   // between two looks at a device

enum class Progress : int { going, done, failed };

class NcclTransport final : public DeviceTransport {
 public:
  NcclTransport(std::shared_ptr<const Nccl> nccl, std::shared_ptr<cuda::Lane> lane, Group& group)
      : nccl_(std::move(nccl)), lane_(std::move(lane)) {
    guarded([&] { begin(group); });
  }
  ~NcclTransport() override { abort(); }
  const char* name() const override { return "nccl"; }

  void exchange(Group& group, std::span<const Sent> sent, std::span<const Received> received,
                const char* what) override {
    guarded([&] {
      lane_->with_stream([&](void* stream) { enqueue(sent, received, stream); });
      together(group, what, [&] { return call_progress(); });
    });
  }

  // The host waits here: only a device that is done has sent and received all.
  void settle(Group& group) override {
    guarded([&] {
      const auto mark = lane_->mark();
      together(group, "all_gather", [&] {
        const Progress calls = call_progress();
        return calls == Progress::done && !mark->reached() ? Progress::going : calls;
      });
    });
  }

 private:
  template <class Body>
  void guarded(Body body) {
    try {
      body();
    } catch (...) {
      abort();
      throw;
    }
  }
  void abort() noexcept {
    if (comm_) nccl_->ncclCommAbort(std::exchange(comm_, nullptr));
  }

  void begin(Group& group) {
    NcclUniqueId mine;
    if (group.rank() == 0) check("ncclGetUniqueId", nccl_->ncclGetUniqueId(&mine));
    std::vector<NcclUniqueId> all(static_cast<size_t>(group.size()));
    group.all_gather(&mine, sizeof mine, all.data(), "all_reduce");
    lane_->with_stream([&](void*) {
      NcclConfig config;
      check("ncclCommInitRankConfig",
            nccl_->ncclCommInitRankConfig(&comm_, group.size(), all[0], group.rank(), &config));
    });
    together(group, "all_reduce", [&] { return call_progress(); });
  }

  // All messages of a round as one group, in which none waits for another.
  void enqueue(std::span<const Sent> sent, std::span<const Received> received, void* stream) {
    check("ncclGroupStart", nccl_->ncclGroupStart());
    NcclResult refused = kNcclSuccess;
    const auto add = [&](NcclResult result) {
      if (refused == kNcclSuccess && result != kNcclInProgress) refused = result;
    };
    for (size_t r = 0; r < sent.size(); ++r) {
      const int peer = static_cast<int>(r);
      if (sent[r].bytes) add(nccl_->ncclSend(sent[r].data, sent[r].bytes, kNcclUint8, peer, comm_, stream));
      if (received[r].bytes) add(nccl_->ncclRecv(received[r].data, received[r].bytes, kNcclUint8, peer, comm_, stream));
    }
    check("ncclGroupEnd", nccl_->ncclGroupEnd());
    check("ncclSend or ncclRecv", refused);
  }

  Progress call_progress() {
    NcclResult state = kNcclSuccess;
    result_ = nccl_->ncclCommGetAsyncError(comm_, &state);
    if (result_ == kNcclSuccess) result_ = state;
    if (result_ == kNcclInProgress) return Progress::going;
    return result_ == kNcclSuccess ? Progress::done : Progress::failed;
  }

  // Returns when all members are done. Throws if one is lost, fails, or makes no progress for the group's time.
  template <class Look>
  void together(Group& group, const char* what, Look look) {
    std::vector<Progress> all(static_cast<size_t>(group.size()));
    for (auto begun = Clock::time_point::max();;) {  // since all have come
      const auto round = Clock::now();
      Progress mine = look();
      while (mine == Progress::going && Clock::now() - round < kRound) {
        std::this_thread::sleep_for(kLook);
        mine = look();
      }
      group.all_gather(&mine, sizeof mine, all.data(), what);
      begun = std::min(begun, Clock::now());
      if (const std::string failed = members(all, Progress::failed); !failed.empty())
        throw Error(ErrorKind::unavailable, 803, fmt::format("NCCL fails between the workers' devices: {}", failed))
            .got(mine == Progress::failed ? nccl_->ncclGetErrorString(result_) : "an error of that worker")
            .help("NCCL_DEBUG=WARN says more; RETRACE_EXCHANGE=host does without NCCL");
      const std::string going = members(all, Progress::going);
      if (going.empty()) return;
      if (std::chrono::duration<double>(Clock::now() - begun).count() > group.seconds())
        throw Error(
            ErrorKind::lost, 804,
            fmt::format("{}: what workers sent by NCCL did not arrive within {:g} seconds", what, group.seconds()))
            .got(fmt::format("{} still waits", going))
            .help(
                "a device that computes for so long needs a longer time-out; RETRACE_EXCHANGE=host does without NCCL");
    }
  }
  static std::string members(const std::vector<Progress>& all, Progress which) {
    std::string text;
    for (size_t r = 0; r < all.size(); ++r)
      if (all[r] == which) text += fmt::format("{}worker {}", text.empty() ? "" : ", ", r);
    return text;
  }

  void check(const char* call, NcclResult result) const {
    if (result == kNcclSuccess || result == kNcclInProgress) return;
    throw Error(ErrorKind::unavailable, 802, fmt::format("NCCL refuses: {}", nccl_->ncclGetErrorString(result)))
        .where(call)
        .help("NCCL_DEBUG=WARN says more; RETRACE_EXCHANGE=host does without NCCL");
  }

  std::shared_ptr<const Nccl> nccl_;
  std::shared_ptr<cuda::Lane> lane_;
  NcclComm comm_ = nullptr;
  NcclResult result_ = kNcclSuccess;  // of the last look
};

}  // namespace

std::unique_ptr<DeviceTransport> make_nccl_transport(std::shared_ptr<const Nccl> nccl, std::shared_ptr<cuda::Lane> lane,
                                                     Group& group) {
  return std::make_unique<NcclTransport>(std::move(nccl), std::move(lane), group);
}

}  // namespace retrace
