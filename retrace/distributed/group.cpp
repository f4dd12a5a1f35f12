#include "retrace/distributed/group.h"

#include <cstring>
#include <mutex>
#include <stdexcept>

#include "retrace/base/error.h"
#include "retrace/distributed/group_errors.h"

namespace retrace {
namespace {

[[noreturn]] void refuse_message() { throw std::logic_error("a group without messages"); }

class SingleGroup : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char*) override {
    ensure(sent.size() == 1 && received.size() == 1 && sent[0].bytes == received[0].bytes, "one message to oneself");
    if (sent[0].bytes) std::memcpy(received[0].data, sent[0].data, sent[0].bytes);
  }
  void send(int, Message message) override {
    const std::lock_guard lock(mutex_);
    message.from = 0;
    mailbox_.put(std::move(message));
  }
  std::optional<Message> take(int from, int tag) override {
    const std::lock_guard lock(mutex_);
    return mailbox_.take(from, tag);
  }
  bool has(int from, int tag) override {
    const std::lock_guard lock(mutex_);
    return mailbox_.has(from, tag);
  }
  Message receive(int from, int tag) override {
    if (auto message = take(from, tag)) return std::move(*message);
    throw no_message(0, from, tag);
  }
  void fail(const std::string&) noexcept override {}

 private:
  std::mutex mutex_;
  Mailbox mailbox_;
};

}  // namespace

std::shared_ptr<Group> single_group() { return std::make_shared<SingleGroup>(); }

void Group::send(int, Message) { refuse_message(); }
std::optional<Message> Group::take(int, int) { refuse_message(); }
bool Group::has(int, int) { refuse_message(); }
Message Group::receive(int, int) { refuse_message(); }
std::shared_ptr<Group> Group::first(int) { throw std::logic_error("a group without parts"); }
void Group::join(int) { throw std::logic_error("a group without parts"); }

void Group::all_gather(const void* mine, size_t bytes, void* all, const char* what) {
  std::vector<Sent> sent(static_cast<size_t>(size()), Sent{mine, bytes});
  std::vector<Received> received;
  for (int r = 0; r < size(); ++r)
    received.push_back({static_cast<char*>(all) + static_cast<size_t>(r) * bytes, bytes});
  exchange(sent, received, what);
}

void Group::barrier() { all_gather(nullptr, 0, nullptr, "barrier"); }

}  // namespace retrace
