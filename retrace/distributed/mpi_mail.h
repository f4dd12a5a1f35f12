#pragma once
// Messages between ranks, beside the exchanges. Nothing waits here: a message leaves and comes while MPI is called.

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "retrace/distributed/mailbox.h"
#include "retrace/distributed/mpi_library.h"

namespace retrace {

class MpiMail {
 public:
  void send(const MpiLibrary& mpi, int to, const Message& message);
  // As Group::take(), after what has come since the last call.
  std::optional<Message> take(const MpiLibrary& mpi, int from, int tag);
  bool has(const MpiLibrary& mpi, int from, int tag);
  // Takes in what has come. Whether all that was sent has left.
  bool settle(const MpiLibrary& mpi);

 private:
  // The bytes of a message, and what of them is under way.
  struct Letter {
    int peer;
    std::string bytes;
    std::vector<RetraceMpiRequest> parts;
    bool whole = false;  // of one that comes: all its parts are asked for
  };
  void advance(const MpiLibrary& mpi);
  void take_in(const MpiLibrary& mpi);
  static void post_rest(const MpiLibrary& mpi, Letter& letter);
  static bool arrived(const MpiLibrary& mpi, Letter& letter);
  static bool done(const MpiLibrary& mpi, Letter& letter);

  std::mutex mutex_;
  std::list<Letter> leaving_, coming_;  // whose memory stays where it is
  Mailbox mailbox_;
};

}  // namespace retrace
