// Copies between devices of one process. The members meet on the host, show each other what they send and up to which
// point of their work it is made, and each device then takes what is for it when that point is reached.

#include <array>
#include <map>
#include <mutex>

#include "retrace/base/error.h"
#include "retrace/distributed/device_transport.h"

namespace retrace {

// What members show each other. Two turns, so that a member may show what is next while another one still reads.
class PeerBoard {
 public:
  struct Note {
    std::vector<const void*> sent;  // to each member
    std::shared_ptr<const cuda::Lane> lane;
    std::shared_ptr<const cuda::Mark> made;
  };
  explicit PeerBoard(size_t size) : notes_{std::vector<Note>(size), std::vector<Note>(size)} {}

  void show(uint64_t turn, int rank, Note note) {
    const std::lock_guard lock(mutex_);
    notes_[turn % 2][static_cast<size_t>(rank)] = std::move(note);
  }
  Note note(uint64_t turn, size_t rank) const {
    const std::lock_guard lock(mutex_);
    return notes_[turn % 2][rank];
  }

 private:
  mutable std::mutex mutex_;
  std::array<std::vector<Note>, 2> notes_;
};

namespace {

class PeerTransport final : public DeviceTransport {
 public:
  PeerTransport(std::shared_ptr<cuda::Lane> lane, std::shared_ptr<PeerBoard> board)
      : lane_(std::move(lane)), board_(std::move(board)) {}
  const char* name() const override { return "peer"; }

  void exchange(Group& group, std::span<const Sent> sent, std::span<const Received> received,
                const char* what) override {
    const auto own = static_cast<size_t>(group.rank());
    PeerBoard::Note mine{{}, lane_, lane_->mark()};
    for (const Sent& each : sent) mine.sent.push_back(each.data);
    meet(group, std::move(mine), what);
    for (size_t r = 0; r < received.size(); ++r) {
      const auto note = board_->note(turn_, r);
      if (r != own) lane_->wait_for(*note.made);
      lane_->copy(received[r].data, *note.lane, note.sent[own], received[r].bytes);
    }
  }

  void settle(Group& group) override {
    meet(group, {{}, lane_, lane_->mark()}, "all_gather");
    for (size_t r = 0; r < static_cast<size_t>(group.size()); ++r)
      if (r != static_cast<size_t>(group.rank())) lane_->wait_for(*board_->note(turn_, r).made);
  }

 private:
  void meet(Group& group, PeerBoard::Note mine, const char* what) {
    board_->show(++turn_, group.rank(), std::move(mine));
    group.all_gather(nullptr, 0, nullptr, what);
  }

  std::shared_ptr<cuda::Lane> lane_;
  std::shared_ptr<PeerBoard> board_;
  uint64_t turn_ = 0;
};

}  // namespace

std::unique_ptr<DeviceTransport> make_peer_transport(std::shared_ptr<cuda::Lane> lane,
                                                     std::shared_ptr<PeerBoard> board) {
  return std::make_unique<PeerTransport>(std::move(lane), std::move(board));
}

// The others find the board of member 0 by its number; it keeps the board until all have found it.
std::shared_ptr<PeerBoard> share_peer_board(Group& group) {
  static std::mutex mutex;
  static auto& boards = *new std::map<uint64_t, std::weak_ptr<PeerBoard>>;
  static uint64_t made = 0;
  std::shared_ptr<PeerBoard> board;
  uint64_t number = 0;
  if (group.rank() == 0) {
    board = std::make_shared<PeerBoard>(static_cast<size_t>(group.size()));
    const std::lock_guard lock(mutex);
    std::erase_if(boards, [](const auto& entry) { return entry.second.expired(); });
    boards[number = ++made] = board;
  }
  std::vector<uint64_t> numbers(static_cast<size_t>(group.size()));
  group.all_gather(&number, sizeof number, numbers.data(), "all_reduce");
  if (!board) {
    const std::lock_guard lock(mutex);
    board = boards[numbers[0]].lock();
  }
  group.all_gather(nullptr, 0, nullptr, "all_reduce");
  ensure(board != nullptr, "member 0 keeps the board until all have it");
  return board;
}

}  // namespace retrace
