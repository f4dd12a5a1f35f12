// A message is a head (its tag and sizes), its kind and its bytes. It travels in one piece of MPI or, if it is long, as
// its head alone and then in parts.

#include "retrace/distributed/mpi_mail.h"

#include <algorithm>
#include <cstring>

#include "retrace/base/error.h"
#include "retrace/distributed/mpi_job.h"

namespace retrace {
namespace {

struct Head {
  int32_t tag = 0;
  uint32_t kind = 0;   // bytes of it
  uint64_t whole = 0;  // bytes of the message, with this head
};

std::string packed(const Message& message) {
  Head head{message.tag, static_cast<uint32_t>(message.kind.size()), 0};
  head.whole = sizeof head + message.kind.size() + message.bytes.size();
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes.append(message.kind).append(message.bytes);
}

Head head_of(const std::string& bytes) {
  Head head;
  ensure(bytes.size() >= sizeof head, "a message arrives with its head");
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

Message unpacked(int from, const std::string& bytes) {
  const Head head = head_of(bytes);
  ensure(head.whole == bytes.size() && head.kind <= bytes.size() - sizeof head, "a message arrives with its sizes");
  return {from, head.tag, bytes.substr(sizeof head, head.kind), bytes.substr(sizeof head + head.kind)};
}

}  // namespace

void MpiMail::send(const MpiLibrary& mpi, int to, const Message& message) {
  const std::lock_guard lock(mutex_);
  advance(mpi);
  if (to == mpi.place().rank) {
    mailbox_.put({to, message.tag, message.kind, message.bytes});
    return;
  }
  Letter& letter = leaving_.emplace_back(Letter{to, packed(message), {}});
  const size_t size = letter.bytes.size();
  const bool whole = size <= kMpiPartBytes;
  letter.parts.push_back(mpi.send(letter.bytes.data(), whole ? size : sizeof(Head), to, kMailTag));
  for (size_t first = sizeof(Head); !whole && first < size; first += kMpiPartBytes)
    letter.parts.push_back(
        mpi.send(letter.bytes.data() + first, std::min(kMpiPartBytes, size - first), to, kMailPartTag));
}

std::optional<Message> MpiMail::take(const MpiLibrary& mpi, int from, int tag) {
  const std::lock_guard lock(mutex_);
  advance(mpi);
  return mailbox_.take(from, tag);
}

bool MpiMail::has(const MpiLibrary& mpi, int from, int tag) {
  const std::lock_guard lock(mutex_);
  advance(mpi);
  return mailbox_.has(from, tag);
}

bool MpiMail::settle(const MpiLibrary& mpi) {
  const std::lock_guard lock(mutex_);
  advance(mpi);
  return leaving_.empty();
}

void MpiMail::advance(const MpiLibrary& mpi) {
  std::erase_if(leaving_, [&](Letter& letter) { return done(mpi, letter); });
  take_in(mpi);
  // In the order in which they came, also where a later one is whole before.
  while (!coming_.empty() && arrived(mpi, coming_.front())) {
    mailbox_.put(unpacked(coming_.front().peer, coming_.front().bytes));
    coming_.pop_front();
  }
}

void MpiMail::take_in(const MpiLibrary& mpi) {
  int peer = 0;
  size_t bytes = 0;
  while (mpi.probe(kMailTag, &peer, &bytes)) {
    Letter& letter = coming_.emplace_back(Letter{peer, std::string(bytes, '\0'), {}});
    letter.parts.push_back(mpi.receive(letter.bytes.data(), bytes, peer, kMailTag));
  }
}

// Whether all that was asked for is done.
bool MpiMail::done(const MpiLibrary& mpi, Letter& letter) {
  std::erase_if(letter.parts, [&](RetraceMpiRequest& request) { return mpi.test(request); });
  return letter.parts.empty();
}

bool MpiMail::arrived(const MpiLibrary& mpi, Letter& letter) {
  if (!done(mpi, letter)) return false;
  if (letter.whole || head_of(letter.bytes).whole == letter.bytes.size()) return true;
  post_rest(mpi, letter);
  return done(mpi, letter);
}

// The parts of a letter of which the head has come. Those of one rank come in the order of its letters.
void MpiMail::post_rest(const MpiLibrary& mpi, Letter& letter) {
  letter.whole = true;
  letter.bytes.resize(head_of(letter.bytes).whole);
  for (size_t first = sizeof(Head); first < letter.bytes.size(); first += kMpiPartBytes)
    letter.parts.push_back(mpi.receive(
        letter.bytes.data() + first, std::min(kMpiPartBytes, letter.bytes.size() - first), letter.peer, kMailPartTag));
}

}  // namespace retrace
