#include "retrace/distributed/worker.h"

#include <fmt/format.h>

#include <algorithm>

namespace retrace {

void check_workers(int workers, int shards) {
  if (workers <= shards) return;
  throw Error(ErrorKind::usage, 220,
              fmt::format("{} workers share {} shard{}", workers, shards, shards == 1 ? "" : "s"))
      .help(fmt::format("set training.shards = {} or more in the job (this changes the result once, and then no number "
                        "of workers does)",
                        workers));
}

Range Worker::shards(int shards) const {
  check_workers(size(), shards);
  return part_of(shards, size(), index());
}

bool Worker::all(bool mine) const {
  const auto everyone = all_gather(static_cast<uint8_t>(mine));
  return std::all_of(everyone.begin(), everyone.end(), [](uint8_t one) { return one != 0; });
}

bool Worker::any(bool mine) const { return !all(!mine); }

std::vector<std::string> Worker::gather_bytes(const std::string& mine, const char* what) const {
  const auto members = static_cast<size_t>(size());
  const uint64_t own = mine.size();
  std::vector<uint64_t> sizes(members);
  group_->all_gather(&own, sizeof own, sizes.data(), what);
  std::vector<std::string> all(members);
  const std::vector<Sent> sent(members, Sent{mine.data(), mine.size()});
  std::vector<Received> received;
  for (size_t r = 0; r < members; ++r) {
    all[r].resize(sizes[r]);
    received.push_back({all[r].data(), all[r].size()});
  }
  group_->exchange(sent, received, what);
  return all;
}

std::string Worker::broadcast_bytes(const std::string& mine, int from) const {
  if (from < 0 || from >= size())
    throw Error(ErrorKind::usage, 226, fmt::format("there is no worker {} to broadcast", from))
        .expected(fmt::format("0 to {}", size() - 1));
  return gather_bytes(mine, "broadcast")[static_cast<size_t>(from)];
}

}  // namespace retrace
