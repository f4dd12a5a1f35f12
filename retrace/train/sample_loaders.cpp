#include "retrace/train/sample_loaders.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <future>
#include <mutex>
#include <optional>

#include "retrace/base/fp_environment.h"
#include "retrace/data/checked_source.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/ops/all_reduce/portable.h"
#include "retrace/tensor/tree.h"
#include "retrace/trace/record.h"

namespace retrace {
namespace {

constexpr size_t kUnderWay = 2;  // mini-batches of one rank that one loader has to make

// What a loader is asked for; the numbers of the observations follow it.
struct Request {
  int64_t pass = 0;
  int variables = 0, tag = 0;  // of the answer
};

std::string packed(const Request& request, std::span<const int64_t> indices) {
  std::string bytes(reinterpret_cast<const char*>(&request), sizeof request);
  return bytes.append(reinterpret_cast<const char*>(indices.data()), indices.size_bytes());
}

// A tree with a leaf for each tensor, whose names have the order of the tensors.
std::string packed(const std::vector<Tensor>& batch) {
  Tree tree;
  for (size_t i = 0; i < batch.size(); ++i) tree[std::to_string(1000000 + i)] = batch[i];
  return Portable<Tree>::bytes(tree);
}

std::vector<Tensor> batch_of(const std::string& bytes) { return leaf_tensors(Portable<Tree>::value(bytes)); }

// Has its mini-batches made by other ranks as long as they keep up.
class LoadedSource : public DataSource {
 public:
  LoadedSource(std::shared_ptr<const DataSource> inner, std::shared_ptr<Group> group, std::vector<int> loaders)
      : inner_(std::move(inner)),
        group_(std::move(group)),
        loaders_(std::move(loaders)),
        taken_(loaders_.size() * kUnderWay) {}

  int64_t size() const override { return inner_->size(); }
  int variables() const override { return inner_->variables(); }
  Observation get(int64_t index, int64_t pass) const override { return inner_->get(index, pass); }
  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t pass, int variables) const override {
    const auto place = indices.empty() ? std::nullopt : take_place();
    if (!place) return inner_->gather(indices, pass, variables);
    const int loader = loaders_[*place % loaders_.size()], tag = kLoadedTag - static_cast<int>(*place);
    group_->send(loader, {.tag = kLoadTag, .bytes = packed({pass, variables, tag}, indices)});
    const Message message = group_->receive(loader, tag);
    give_back(*place);
    return batch_of(message.bytes);
  }
  uint64_t digest(std::span<const int64_t> indices) const override { return inner_->digest(indices); }
  std::vector<SourceFile> files() const override { return inner_->files(); }
  int64_t sample(int64_t index) const override { return inner_->sample(index); }
  int64_t length(int64_t index) const override { return inner_->length(index); }
  bool has_length(int variable) const override { return inner_->has_length(variable); }
  int depth() const override { return inner_->depth(); }
  int levels() const override { return inner_->levels(); }
  bool is_partitionable() const override { return inner_->is_partitionable(); }
  bool is_shuffleable() const override { return inner_->is_shuffleable(); }

 private:
  // Of a request: the first ones are at different loaders. None if all are busy.
  std::optional<size_t> take_place() const {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < taken_.size(); ++i)
      if (!taken_[i]) return taken_[i] = true, i;
    return std::nullopt;
  }
  void give_back(size_t place) const {
    const std::lock_guard lock(mutex_);
    taken_[place] = false;
  }

  const std::shared_ptr<const DataSource> inner_;
  const std::shared_ptr<Group> group_;
  const std::vector<int> loaders_;
  mutable std::mutex mutex_;
  mutable std::vector<char> taken_;
};

void answer(const DataSource& source, Group& group, const Message& message) {
  const FloatingPointScope floating_point;
  const ThreadCountScope one_thread(1);
  Request request;
  ensure(message.bytes.size() >= sizeof request, "a request arrives whole");
  std::memcpy(&request, message.bytes.data(), sizeof request);
  std::vector<int64_t> indices((message.bytes.size() - sizeof request) / sizeof(int64_t));
  std::memcpy(indices.data(), message.bytes.data() + sizeof request, indices.size() * sizeof(int64_t));
  std::string bytes = packed(checked_gather(source, indices, request.pass, request.variables));
  evaluate();  // what user code recorded does not stay behind on this thread
  group.send(message.from, {.tag = request.tag, .bytes = std::move(bytes)});
}

// The answers that are being made.
class Answers {
 public:
  void begin(const DataSource& source, Group& group, Message message) {
    std::erase_if(going_, [](std::future<void>& one) {
      return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready && (one.get(), true);
    });
    going_.push_back(std::async(std::launch::async, [&source, &group, message = std::move(message)] {
      try {
        answer(source, group, message);
      } catch (const std::exception& error) {
        group.fail(reason_of(error));  // wakes the thread that waits for requests
        throw;
      }
    }));
  }
  // Waits for all; throws what the first one threw.
  void end() {
    for (auto& one : going_) one.get();
  }

 private:
  std::vector<std::future<void>> going_;
};

}  // namespace

std::vector<int> loaders_of(int rank, int computing, int size) {
  std::vector<int> loaders;
  for (int r = computing + rank; r < size; r += computing) loaders.push_back(r);
  if (loaders.empty()) loaders.push_back(computing + rank % (size - computing));
  return loaders;
}

Datastore loaded_store(const Datastore& store, std::shared_ptr<Group> group, std::vector<int> loaders) {
  if (store.source()->is_in_memory() || !store.is_subsettable()) return store;
  return Datastore(std::make_shared<const LoadedSource>(store.source(), std::move(group), std::move(loaders)), Place());
}

int threads_for_loaders(size_t loaders) { return static_cast<int>(loaders * kUnderWay) + 1; }

void serve_samples(const DataSource& source, Group& group) {
  Answers answers;
  for (;;) {
    Message request;
    try {
      request = group.receive(kAny, kLoadTag);
    } catch (const Error&) {
      answers.end();  // it may be one of them that failed
      throw;
    }
    if (request.bytes.empty()) return answers.end();
    answers.begin(source, group, std::move(request));
  }
}

void end_loaders(Group& group, int computing) {
  for (int r = computing; r < group.size(); ++r) group.send(r, {.tag = kLoadTag});
}

}  // namespace retrace
