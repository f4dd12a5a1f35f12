#include "retrace/distributed/mailbox.h"

namespace retrace {

size_t Mailbox::find(int from, int tag) const {
  size_t i = 0;
  for (; i < messages_.size(); ++i) {
    const Message& message = messages_[i];
    if ((from == kAny || message.from == from) && (tag == kAny ? message.tag >= 0 : message.tag == tag)) break;
  }
  return i;
}

std::optional<Message> Mailbox::take(int from, int tag) {
  const size_t i = find(from, tag);
  if (i == messages_.size()) return {};
  Message message = std::move(messages_[i]);
  messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(i));
  return message;
}

}  // namespace retrace
