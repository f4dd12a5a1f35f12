#pragma once
// What a program that runs on a pool sees of it: which worker it is, and collectives on values.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/range.h"

namespace retrace {

class Group;  // retrace/distributed/group.h

// The form in which a value travels: its bytes, and the value from them.
template <class T>
struct Portable {
  static std::string bytes(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "a worker cannot send a value of this type");
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static T value(const std::string& bytes) {
    T value;
    ensure(bytes.size() == sizeof value, "a value arrives with its size");
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};

// Text travels as it is.
template <>
struct Portable<std::string> {
  static std::string kind() { return "text"; }
  static std::string bytes(const std::string& value) { return value; }
  static std::string value(const std::string& bytes) { return bytes; }
};

// A vector of plain structs travels as their bytes.
template <class T>
struct Portable<std::vector<T>> {
  static std::string kind();
  static std::string bytes(const std::vector<T>& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "a worker cannot send a value of this type");
    return {reinterpret_cast<const char*>(value.data()), value.size() * sizeof(T)};
  }
  static std::vector<T> value(const std::string& bytes) {
    std::vector<T> value(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(value.data(), bytes.data(), value.size() * sizeof(T));
    return value;
  }
};

// Whether workers can exchange values of this type.
template <class T>
constexpr bool is_portable =
    requires { Portable<T>::kind(); } || (std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
template <class T>
constexpr bool is_portable<std::vector<T>> = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

// Names with values, both as text.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

// The name of values of this type in errors.
template <class T>
std::string kind_of() {
  if constexpr (requires { Portable<T>::kind(); }) return Portable<T>::kind();
  if (std::is_same_v<T, bool>) return "bool";
  if (std::is_same_v<T, float>) return "float";
  if (std::is_same_v<T, double>) return "double";
  return (std::is_integral_v<T> ? "integer of " : "struct of ") + std::to_string(sizeof(T)) + " bytes";
}

// Throws Error(usage) if there are more workers than shards; `option` is what the number of shards is called where it
// can be changed.
void check_workers(int workers, int64_t shards, std::string_view option = ".shards");

// One worker of a pool. Every worker must call each collective, in the same order. A value is anything with a Portable:
// numbers and other plain structs, text, vectors of plain structs, tensors, trees.
class Worker {
 public:
  Worker();  // the only one
  explicit Worker(std::shared_ptr<Group> group);
  int index() const;  // from 0
  int size() const;
  Group& group() const { return *group_; }
  // This worker's contiguous run of `shards`. Throws Error(usage) if there are more workers than shards.
  Range shards(int64_t shards) const;

  void barrier() const;
  // Throws Error(usage) on every worker if one worker has another value for a name, or compares something else: "worker
  // 1 has training.momentum = 0.8, worker 0 has 0.9". `what` says what is compared ("the job"). A name that a worker
  // does not list, or lists with the value "", is not known to it, and is not compared with it. It costs one message of
  // fixed size if all lists are the same.
  void require_same(std::string_view what, const NamedValues& mine) const;
  // The collectives below throw Error(usage) on every worker if workers make different ones, or with values of
  // different types.

  // True if every worker, or any, says so.
  bool all(bool mine) const;
  bool any(bool mine) const;
  // The values of all workers, by index.
  template <class T>
  std::vector<T> all_gather(const T& mine) const {
    return gather(mine, "all_gather");
  }
  // The value of worker `from`, on all of them.
  template <class T>
  T broadcast(const T& mine, int from = 0) const {
    check_sender(from);
    const std::string kind = kind_of<T>() + " from worker " + std::to_string(from);
    const auto all = gather_bytes(index() == from ? Portable<T>::bytes(mine) : "", "broadcast", kind);
    return Portable<T>::value(all[static_cast<size_t>(from)]);
  }
  // combine(a, b) over the workers' values along the tree of docs/numerics.md, by index: the same bits on every worker
  // and in every run, but another result with another number of workers (what must not depend on it belongs to shards).
  template <class T, class Combine>
  T reduce(const T& mine, const Combine& combine) const {
    return tree(gather(mine, "reduce"), combine);
  }
  // Messages from worker to worker, beside the collectives; values of the same kinds. send() hands the value over, to
  // any worker, and waits for nobody. receive() waits for the oldest message from worker `from`, or from any worker,
  // with `tag`, or with any tag. Which message comes first from any worker depends on time: numbers that follow from it
  // do, too. Messages from one worker with one tag come in their order. Tags are 0 or more. Throws Error(usage) for a
  // worker that there is not, a negative tag, and a message of another type; Error(lost) as collectives do.
  static constexpr int any_worker = -1, any_tag = -1;
  template <class T>
  void send(const T& value, int to, int tag = 0) const {
    send_bytes(Portable<T>::bytes(value), kind_of<T>(), to, tag);
  }
  // Who sent a message.
  struct Sender {
    int worker = 0, tag = 0;
  };
  template <class T>
  T receive(int from = any_worker, int tag = any_tag, Sender* sender = nullptr) const {
    return Portable<T>::value(receive_bytes(kind_of<T>(), from, tag, sender));
  }
  // Whether receive() would return at once.
  bool has_message(int from = any_worker, int tag = any_tag) const;
  // Sends to one worker and receives from another, as all workers of a ring may do at the same time.
  template <class T>
  T send_receive(const T& value, int to, int from, int tag = 0) const {
    send(value, to, tag);
    return receive<T>(from, tag);
  }

  // Tensors and trees must have one shape on all workers.
  template <class T>
  T sum(const T& mine) const {
    return tree(gather(mine, "sum"), [](const T& a, const T& b) -> T {
      if constexpr (requires { Portable<T>::add(a, b); })
        return Portable<T>::add(a, b);
      else
        return a + b;
    });
  }

 private:
  template <class T>
  std::vector<T> gather(const T& mine, const char* what) const {
    std::vector<T> all;
    for (const auto& bytes : gather_bytes(Portable<T>::bytes(mine), what, kind_of<T>()))
      all.push_back(Portable<T>::value(bytes));
    return all;
  }
  template <class T, class Combine>
  static T tree(const std::vector<T>& items, const Combine& combine) {
    return tree(items, 0, items.size(), combine);
  }
  template <class T, class Combine>
  static T tree(const std::vector<T>& items, size_t first, size_t count, const Combine& combine) {
    if (count == 1) return items[first];
    size_t left = 1;
    while (left * 2 < count) left *= 2;
    return combine(tree(items, first, left, combine), tree(items, first + left, count - left, combine));
  }
  // `kind` describes the values; it must be the same on all workers.
  std::vector<std::string> gather_bytes(const std::string& mine, const char* what, const std::string& kind) const;
  void check_sender(int from) const;
  void send_bytes(const std::string& bytes, const std::string& kind, int to, int tag) const;
  std::string receive_bytes(const std::string& kind, int from, int tag, Sender* sender) const;

  std::shared_ptr<Group> group_;
};

template <class T>
std::string Portable<std::vector<T>>::kind() {
  return "vector of " + kind_of<T>();
}

}  // namespace retrace
