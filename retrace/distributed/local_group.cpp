// Members in one process: each lays its messages out where the others see them, waits until all have, copies what is
// for it, and waits until all have copied.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "retrace/base/error.h"
#include "retrace/base/warning.h"
#include "retrace/distributed/group.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/local_mail.h"
#include "retrace/distributed/patience.h"

namespace retrace {
namespace {

class Meeting {
 public:
  Meeting(int size, double seconds, std::shared_ptr<FirstFailure> first)
      : seconds_(seconds), members_(static_cast<size_t>(size)), first_(std::move(first)) {}
  int size() const { return static_cast<int>(members_.size()); }
  double seconds() const { return seconds_; }

  void exchange(int rank, std::span<const Sent> sent, std::span<const Received> received, const char* what) {
    ensure(sent.size() == members_.size() && received.size() == members_.size(), "a message for each member");
    try {
      lay_out(rank, sent, what);
      take(rank, received);
      leave(rank, what);
    } catch (const std::exception& error) {
      give_up(rank, reason_of(error));
      throw;
    }
  }

  void fail(int rank, const std::string& why) {
    first_->note(rank, why);
    {
      const std::lock_guard lock(mutex_);
      failed_ = true;
    }
    changed_.notify_all();
  }

  void end(int rank) {
    {
      const std::lock_guard lock(mutex_);
      members_[static_cast<size_t>(rank)].ended = true;
    }
    changed_.notify_all();
  }

 private:
  struct Member {
    std::span<const Sent> sent;
    const char* what = "";
    uint64_t laid_out = 0, taken = 0;  // collectives so far
    bool ended = false;
  };

  void lay_out(int rank, std::span<const Sent> sent, const char* what) {
    Member& mine = members_[static_cast<size_t>(rank)];
    std::unique_lock lock(mutex_);
    mine.sent = sent, mine.what = what;
    ++mine.laid_out;
    changed_.notify_all();
    wait(lock, rank, mine.laid_out, &Member::laid_out, what);
    check_same(mine.laid_out, what);
    ++copying_;
  }

  void take(int rank, std::span<const Received> received) {
    bool agree = true;
    for (size_t r = 0; r < members_.size(); ++r) {
      const Sent& from = members_[r].sent[static_cast<size_t>(rank)];
      agree = agree && from.bytes == received[r].bytes;
      if (agree && from.bytes) std::memcpy(received[r].data, from.data, from.bytes);
    }
    {
      const std::lock_guard lock(mutex_);
      --copying_;
    }
    changed_.notify_all();
    ensure(agree, "a message arrives with its size");
  }

  void leave(int rank, const char* what) {
    Member& mine = members_[static_cast<size_t>(rank)];
    std::unique_lock lock(mutex_);
    ++mine.taken;
    changed_.notify_all();
    wait(lock, rank, mine.taken, &Member::taken, what);
  }

  // The messages of this member are gone after it leaves with an error.
  void give_up(int rank, const std::string& why) {
    fail(rank, why);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return copying_ == 0; });
  }

  // Until all members have come as far.
  void wait(std::unique_lock<std::mutex>& lock, int rank, uint64_t count, uint64_t Member::* steps, const char* what) {
    const auto missing = [&] {
      std::vector<int> found;
      for (size_t r = 0; r < members_.size(); ++r)
        if (members_[r].*steps < count) found.push_back(static_cast<int>(r));
      return found;
    };
    const auto here = [&](const Member& member) { return member.*steps >= count; };
    const auto lost = [&](const Member& member) { return member.ended && !here(member); };
    const auto all_here = [&] { return std::all_of(members_.begin(), members_.end(), here); };
    const auto decided = [&] { return failed_ || all_here() || std::any_of(members_.begin(), members_.end(), lost); };
    Patience patience(seconds_);
    SignsOfLife signs;  // of anyone in this process: who waits uses no processor
    double quiet = 0, waited = 0;
    while (!changed_.wait_for(lock, std::chrono::duration<double>(patience.step()), decided)) {
      const double passed = patience.look();
      quiet = signs.note(process_seconds()) ? 0 : quiet + passed;
      if (quiet >= seconds_) throw members_missing(what, seconds_, missing());
      const bool tell = waited < patience.silence() && waited + passed >= patience.silence();
      waited += passed;
      const auto first = std::find_if(members_.begin(), members_.end(), here);
      if (tell && first - members_.begin() == rank) tell_user(lock, still_waiting(rank, what, waited, missing()));
    }
    if (failed_) throw first_->error();
    if (all_here()) return;
    const auto ended = std::find_if(members_.begin(), members_.end(), lost);
    throw member_ended(static_cast<int>(ended - members_.begin()), rank, what);
  }

  static void tell_user(std::unique_lock<std::mutex>& lock, const std::string& text) {
    lock.unlock();
    warn(text);
    lock.lock();
  }

  void check_same(uint64_t count, const char* what) const {
    for (size_t r = 0; r < members_.size(); ++r)
      if (members_[r].laid_out == count && std::strcmp(members_[r].what, what) != 0)
        throw different_collectives(what, members_[r].what, static_cast<int>(r));
  }

  const double seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Member> members_;
  int copying_ = 0;  // members that read messages of others now
  const std::shared_ptr<FirstFailure> first_;
  bool failed_ = false;
};

class LocalGroup : public Group {
 public:
  LocalGroup(std::shared_ptr<Meeting> meeting, std::shared_ptr<LocalMail> mail, int rank)
      : meeting_(std::move(meeting)), mail_(std::move(mail)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return meeting_->size(); }
  double seconds() const override { return meeting_->seconds(); }
  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char* what) override {
    try {
      meeting_->exchange(rank_, sent, received, what);
    } catch (const std::exception& error) {
      mail_->fail(rank_, reason_of(error));
      throw;
    }
  }
  void send(int to, Message message) override { mail_->send(rank_, to, std::move(message)); }
  std::optional<Message> take(int from, int tag) override { return mail_->take(rank_, from, tag); }
  bool has(int from, int tag) override { return mail_->has(rank_, from, tag); }
  Message receive(int from, int tag) override {
    try {
      return mail_->receive(rank_, from, tag);
    } catch (const std::exception& error) {
      fail(reason_of(error));
      throw;
    }
  }
  void fail(const std::string& why) noexcept override { meeting_->fail(rank_, why), mail_->fail(rank_, why); }
  void end() noexcept override { meeting_->end(rank_), mail_->end(rank_); }

 private:
  std::shared_ptr<Meeting> meeting_;
  std::shared_ptr<LocalMail> mail_;
  int rank_;
};

}  // namespace

std::vector<std::shared_ptr<Group>> local_groups(int n, double seconds) {
  const auto first = std::make_shared<FirstFailure>();
  const auto meeting = std::make_shared<Meeting>(n, seconds, first);
  const auto mail = std::make_shared<LocalMail>(n, seconds, first);
  std::vector<std::shared_ptr<Group>> groups;
  for (int rank = 0; rank < n; ++rank) groups.push_back(std::make_shared<LocalGroup>(meeting, mail, rank));
  return groups;
}

}  // namespace retrace
