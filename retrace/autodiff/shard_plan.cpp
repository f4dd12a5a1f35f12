#include <fmt/format.h>

#include <algorithm>

#include "retrace/autodiff/shards.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {

Tree ShardCut::slice(const Tree& argument) const {
  if (!cuts_) return argument;
  return map(argument, [&](const Tensor& tensor) {
    if (!tensor.spec().batch_first()) return tensor;
    const int64_t start = samples_.first - (whole_ > batch_ ? tensor.spec().part.first : 0);
    return retrace::slice(tensor, {.begin = {start}, .end = {start + samples_.count}});
  });
}

ShardPlan::ShardPlan(int64_t shards, const Worker* worker, bool compared) : shards_(shards), worker_(worker) {
  if (shards < 1)
    throw Error(ErrorKind::usage, 221, fmt::format("shards = {} is not possible", shards)).expected("1 or more");
  if (compared || alone()) return;
  check_ = std::make_unique<WorkerCheck>();
  check_->add("shards", fmt::format("{}", shards));
}

void ShardPlan::note_number(double value) {
  ++arguments_;
  if (check_) check_->add(fmt::format("argument {}", arguments_), fmt::format("{}", value));
}

void ShardPlan::note(const Tree& argument) {
  ++arguments_;
  if (check_) check_->add_argument(fmt::format("argument {}", arguments_), argument);
  for (const auto& [path, tensor] : leaves(argument)) {
    if (!tensor.spec().batch_first()) continue;
    const int64_t size = tensor.shape()[0];
    if (batch_ >= 0 && size != batch_) {
      if (!one_shard_here())
        throw Error(ErrorKind::usage, 223, fmt::format("arguments with a B label have {} and {} samples", batch_, size))
            .got(fmt::format("{}{}", path.empty() ? "" : path + " ", tensor.spec().text()))
            .expected("one batch size for all of them, where shards or workers share them")
            .help("leave the label B away where an argument is no part of the mini-batch, or take one shard");
      continue;
    }
    batch_ = size;
    if (tensor.spec().part.whole > 0) part_ = tensor.spec().part;
  }
}

std::vector<ShardCut> ShardPlan::cuts() const {
  const Range mine = alone() ? Range{0, shards_} : worker_->shards(shards_);
  if (batch_ < 0) {
    if (one_shard_here()) return {ShardCut({0, 0}, 0, 0, false)};
    throw Error(ErrorKind::usage, 224, "shards need an argument with a B label")
        .help("give the mini-batch its labels, for example \"BSSC\"");
  }
  if (!alone() && part_.whole == 0)
    throw Error(ErrorKind::usage, 225, "a batch does not say where it stands in the whole mini-batch")
        .help("take it from queue.share(worker, shards)");
  if (shards_ == 1) return {ShardCut({part_.whole > 0 ? part_.first : 0, batch_}, whole(), batch_, false)};
  std::vector<ShardCut> cuts;
  for (int64_t j = mine.first; j < mine.first + mine.count; ++j)
    if (const Range samples = part_of(whole(), shards_, j); samples.count > 0)
      cuts.emplace_back(samples, whole(), batch_, true);
  if (cuts.empty()) cuts.emplace_back(Range{part_.first, 0}, whole(), batch_, true);
  return cuts;
}

ShardSplit ShardPlan::split() const {
  if (shards_ == 1) return {};
  const int64_t present = std::clamp<int64_t>(whole(), 1, shards_);
  if (alone()) return {shards_, present, 1, 0};
  return {shards_, present, worker_->size(), worker_->index()};
}

}  // namespace retrace
