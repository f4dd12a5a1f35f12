#include "retrace/distributed/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "retrace/base/error.h"

namespace retrace {
namespace {

class SingleGroup : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_gather(const void* mine, size_t bytes, void* all) override {
    if (bytes) std::memcpy(all, mine, bytes);
  }
  void barrier() override {}
};

}  // namespace

std::shared_ptr<Group> single_group() { return std::make_shared<SingleGroup>(); }

Range part_of(int64_t n, int64_t parts, int64_t i) {
  const int64_t whole = n / parts, rest = n % parts;
  return {i * whole + std::min(i, rest), whole + (i < rest ? 1 : 0)};
}

bool Worker::all(bool mine) const {
  const uint8_t said = mine;
  std::vector<uint8_t> everyone(static_cast<size_t>(size()));
  group_->all_gather(&said, 1, everyone.data());
  return std::all_of(everyone.begin(), everyone.end(), [](uint8_t one) { return one != 0; });
}

Range Worker::shards(int shards) const {
  if (size() > shards)
    throw Error(ErrorKind::usage, 220,
                fmt::format("{} workers share {} shard{}", size(), shards, shards == 1 ? "" : "s"))
        .help(fmt::format("set training.shards = {} or more in the job (this changes the result once, and then no "
                          "number of workers does)",
                          size()));
  return part_of(shards, size(), rank());
}

}  // namespace retrace
