#include "retrace/distributed/local_mail.h"

#include <chrono>

#include "retrace/distributed/patience.h"

namespace retrace {

LocalMail::LocalMail(int size, double seconds, std::shared_ptr<FirstFailure> first)
    : seconds_(seconds), members_(static_cast<size_t>(size)), first_(std::move(first)) {}

void LocalMail::send(int rank, int to, Message message) {
  message.from = rank;
  {
    const std::lock_guard lock(mutex_);
    mailbox(to).put(std::move(message));
  }
  changed_.notify_all();
}

std::optional<Message> LocalMail::take(int rank, int from, int tag) {
  const std::lock_guard lock(mutex_);
  return mailbox(rank).take(from, tag);
}

bool LocalMail::has(int rank, int from, int tag) {
  const std::lock_guard lock(mutex_);
  return mailbox(rank).has(from, tag);
}

Message LocalMail::receive(int rank, int from, int tag) {
  std::unique_lock lock(mutex_);
  const auto decided = [&] { return failed_ || mailbox(rank).has(from, tag) || senders(rank, from).empty(); };
  Patience patience(seconds_);
  SignsOfLife signs;
  double quiet = 0;
  while (!changed_.wait_for(lock, std::chrono::duration<double>(patience.step()), decided)) {
    const double passed = patience.look();
    quiet = signs.note(process_seconds()) ? 0 : quiet + passed;
    if (quiet >= seconds_) throw members_missing("receive", seconds_, senders(rank, from));
  }
  if (auto message = mailbox(rank).take(from, tag)) return std::move(*message);
  if (failed_) throw first_->error();
  throw no_message(rank, from, tag);
}

void LocalMail::fail(int rank, const std::string& why) noexcept {
  first_->note(rank, why);
  {
    const std::lock_guard lock(mutex_);
    failed_ = true;
  }
  changed_.notify_all();
}

void LocalMail::end(int rank) noexcept {
  {
    const std::lock_guard lock(mutex_);
    members_[static_cast<size_t>(rank)].ended = true;
  }
  changed_.notify_all();
}

// The members that can send it and have not ended.
std::vector<int> LocalMail::senders(int rank, int from) const {
  std::vector<int> found;
  for (int r = 0; r < static_cast<int>(members_.size()); ++r)
    if (r != rank && (from == kAny || from == r) && !members_[static_cast<size_t>(r)].ended) found.push_back(r);
  return found;
}

}  // namespace retrace
