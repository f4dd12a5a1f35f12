#include "retrace/distributed/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/base/hash.h"
#include "retrace/distributed/group.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/queue_server.h"

namespace retrace {
namespace {

constexpr size_t kMostDifferences = 8, kLongestValue = 100;
constexpr const char* kWhat = "what is compared";

// One list as text, with any content: each piece with its size before it.
std::string packed(const NamedValues& list) {
  std::string text;
  const auto add = [&](const std::string& piece) { text += fmt::format("{}:{}", piece.size(), piece); };
  for (const auto& [name, value] : list) add(name), add(value);
  return text;
}

NamedValues unpacked(std::string_view text) {
  NamedValues list;
  const auto take = [&] {
    size_t size = 0, at = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      size = size * 10 + static_cast<size_t>(text[at++] - '0');
    ensure(at < text.size() && text[at] == ':' && size < text.size() - at, "a list arrives as it was packed");
    const std::string piece(text.substr(at + 1, size));
    text.remove_prefix(at + 1 + size);
    return piece;
  };
  while (!text.empty()) {
    std::string name = take();
    list.emplace_back(std::move(name), take());
  }
  return list;
}

std::string shown(const std::string& value) {
  return printable(value.size() > kLongestValue ? value.substr(0, kLongestValue) + "..." : value);
}

// "worker 1 has a = 2, worker 0 has 3" for each name whose values differ, in the order of the lists. "" is no value.
std::vector<std::string> differences(const std::vector<NamedValues>& lists) {
  struct First {
    std::string value;
    size_t worker;
  };
  std::map<std::string, First> known;
  std::vector<std::string> names;
  std::map<std::string, std::string> texts;
  for (size_t r = 0; r < lists.size(); ++r)
    for (const auto& [name, value] : lists[r]) {
      if (value.empty()) continue;
      const auto [first, is_new] = known.try_emplace(name, First{value, r});
      if (is_new || first->second.value == value) continue;
      std::string& text = texts[name];
      if (text.empty()) names.push_back(name);
      text = fmt::format("{}worker {} has {} = {}, ", text, r, shown(name), shown(value));
    }
  std::vector<std::string> found;
  for (const auto& name : names) {
    const First& first = known.at(name);
    found.push_back(fmt::format("{}worker {} has {}", texts[name], first.worker, shown(first.value)));
  }
  return found;
}

// The header that a worker sends before its value.
struct Announced {
  Announced() = default;
  Announced(size_t bytes, const std::string& text) : size(bytes) { text.copy(kind, sizeof kind - 1); }
  uint64_t size = 0;
  char kind[56] = {};
};

// Every worker sees the same list, so that all throw or none.
void check_kinds(const std::vector<Announced>& announced, const char* what) {
  for (size_t r = 1; r < announced.size(); ++r) {
    if (std::string_view(announced[r].kind) == announced[0].kind) continue;
    throw Error(ErrorKind::usage, kDifferentWorkers, fmt::format("{}: the workers differ in what they give", what))
        .got(fmt::format("worker {} gives {}, worker 0 {}", r, announced[r].kind, announced[0].kind))
        .help("every worker must make the same collectives, of values of the same type, in the same order");
  }
}

void check_address(const char* what, int worker, int workers, int tag, bool any) {
  if ((any && worker == Worker::any_worker) || (worker >= 0 && worker < workers)) {
    if (tag >= 0 || (any && tag == Worker::any_tag)) return;
    throw Error(ErrorKind::usage, 667, fmt::format("{}: a message has no tag {}", what, tag)).expected("0 or more");
  }
  throw Error(ErrorKind::usage, 667, fmt::format("{}: there is no worker {}", what, worker))
      .expected(fmt::format("0 to {}{}", workers - 1, any ? ", or Worker::any_worker" : ""));
}

}  // namespace

void check_workers(int workers, int64_t shards, std::string_view option) {
  if (workers <= shards) return;
  throw Error(ErrorKind::usage, 220,
              fmt::format("{} workers share {} shard{}", workers, shards, shards == 1 ? "" : "s"))
      .help(fmt::format("set {} = {} or more: this changes the result once, and then no number of workers does", option,
                        workers));
}

Worker::Worker() : Worker(single_group()) {}
Worker::Worker(std::shared_ptr<Group> group) : group_(std::move(group)) {}
int Worker::index() const { return group_->rank(); }
int Worker::size() const { return group_->size(); }
void Worker::barrier() const {
  group_->barrier();
  serve_queues();
}

Range Worker::shards(int64_t shards) const {
  check_workers(size(), shards);
  return part_of(shards, size(), index());
}

void Worker::require_same(std::string_view what, const NamedValues& mine) const {
  if (size() == 1) return;
  NamedValues list{{kWhat, std::string(what)}};
  list.insert(list.end(), mine.begin(), mine.end());
  const std::string own = packed(list);
  const uint64_t digest[2] = {fnv1a(own), hash_bytes(own + "again")};
  std::vector<uint64_t> digests(2 * static_cast<size_t>(size()));
  group_->all_gather(digest, sizeof digest, digests.data(), "require_same");
  const auto other = [&](size_t r) { return digests[2 * r] != digest[0] || digests[2 * r + 1] != digest[1]; };
  bool same = true;
  for (size_t r = 0; r < digests.size() / 2; ++r) same = same && !other(r);
  if (same) return;
  std::vector<NamedValues> lists;
  for (const auto& text : gather_bytes(own, "require_same", "lists")) lists.push_back(unpacked(text));
  const auto found = differences(lists);
  if (found.empty()) return;  // only what is not known to all
  std::string text = found[0];
  for (size_t i = 1; i < std::min(found.size(), kMostDifferences); ++i) text += "\n            " + found[i];
  if (found.size() > kMostDifferences)
    text += fmt::format("\n            and {} more", found.size() - kMostDifferences);
  throw Error(ErrorKind::usage, kDifferentWorkers, fmt::format("the workers differ in {}", what))
      .got(text)
      .help("give every worker, or rank, the same program, job and data");
}

bool Worker::all(bool mine) const {
  const auto everyone = gather(mine, "all");
  return std::all_of(everyone.begin(), everyone.end(), [](bool one) { return one; });
}

bool Worker::any(bool mine) const {
  const auto everyone = gather(mine, "any");
  return std::any_of(everyone.begin(), everyone.end(), [](bool one) { return one; });
}

std::vector<std::string> Worker::gather_bytes(const std::string& mine, const char* what,
                                              const std::string& kind) const {
  const auto members = static_cast<size_t>(size());
  const Announced own(mine.size(), kind);
  std::vector<Announced> announced(members);
  group_->all_gather(&own, sizeof own, announced.data(), what);
  check_kinds(announced, what);
  std::vector<std::string> all(members);
  const std::vector<Sent> sent(members, Sent{mine.data(), mine.size()});
  std::vector<Received> received;
  for (size_t r = 0; r < members; ++r) {
    all[r].resize(announced[r].size);
    received.push_back({all[r].data(), all[r].size()});
  }
  group_->exchange(sent, received, what);
  serve_queues();
  return all;
}

void Worker::send_bytes(const std::string& bytes, const std::string& kind, int to, int tag) const {
  check_address("send", to, size(), tag, false);
  group_->send(to, {.tag = tag, .kind = kind, .bytes = bytes});
  serve_queues();
}

bool Worker::has_message(int from, int tag) const {
  check_address("has_message", from, size(), tag, true);
  serve_queues();
  return group_->has(from, tag);
}

std::string Worker::receive_bytes(const std::string& kind, int from, int tag, Sender* sender) const {
  check_address("receive", from, size(), tag, true);
  serve_queues();
  Message message = group_->receive(from, tag);
  if (message.kind != kind)
    throw Error(ErrorKind::usage, 667, "receive: the message is of another type")
        .got(fmt::format("{} from worker {} with tag {}", message.kind, message.from, message.tag))
        .expected(kind);
  if (sender) *sender = {message.from, message.tag};
  return std::move(message.bytes);
}

void Worker::check_sender(int from) const {
  if (from < 0 || from >= size())
    throw Error(ErrorKind::usage, 226, fmt::format("there is no worker {} to broadcast", from))
        .expected(fmt::format("0 to {}", size() - 1));
}

}  // namespace retrace
