#pragma once
// How bytes get from the device of one member to those of others. What is added up, and in which order, is decided
// above it.

#include <span>

#include "retrace/device/cuda/runtime.h"
#include "retrace/distributed/group.h"

namespace retrace {

class DeviceTransport {
 public:
  virtual ~DeviceTransport() = default;
  virtual const char* name() const = 0;  // "peer"
  // As Group::exchange, between memory of the members' devices: the work is given to this member's lane, behind all
  // that it was given before. Later work of the lane finds what was received.
  virtual void exchange(Group& group, std::span<const Sent> sent, std::span<const Received> received,
                        const char* what) = 0;
  // Ends an exchange of one or more rounds: later work of the lane may change what was sent.
  virtual void settle(Group& group) = 0;
};

class PeerBoard;
// Copies between devices of one process. `board` is one for all members (share_peer_board).
std::unique_ptr<DeviceTransport> make_peer_transport(std::shared_ptr<cuda::Lane> lane,
                                                     std::shared_ptr<PeerBoard> board);
// A board for this group, whose members are all in this process; all call it.
std::shared_ptr<PeerBoard> share_peer_board(Group& group);

class Nccl;
// NCCL, which moves bytes and adds nothing. All members call it. Throws Error(unavailable) where NCCL refuses. A member
// waits group.seconds() for devices of others that make no progress.
std::unique_ptr<DeviceTransport> make_nccl_transport(std::shared_ptr<const Nccl> nccl, std::shared_ptr<cuda::Lane> lane,
                                                     Group& group);

}  // namespace retrace
