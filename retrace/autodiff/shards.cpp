#include "retrace/autodiff/shards.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "retrace/autodiff/gradient.h"
#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/identity/identity.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/trace/draw_scope.h"

namespace retrace {
namespace {

// The tree of the contract over n items: the largest power of two below n on the left.
template <class T, class Combine>
T tree(std::span<const T> items, const Combine& combine) {
  if (items.size() == 1) return items[0];
  size_t left = 1;
  while (left * 2 < items.size()) left *= 2;
  return combine(tree(items.first(left), combine), tree(items.subspan(left), combine));
}

Tensor add_tree(const std::vector<Tensor>& items) {
  return tree(std::span<const Tensor>(items), [](const Tensor& a, const Tensor& b) { return add(a, b); });
}

bool has_batch(const Tensor& tensor) { return tensor.spec().labels.find('B') == 0; }

// One place of the auxiliary results of all shards.
Tree combine_aux(const std::vector<const Tree*>& shards, const std::vector<double>& shares, const std::string& path) {
  const Tree& first = *shards[0];
  if (shards.size() == 1) return first;
  const auto tensors = [&] {
    std::vector<Tensor> all;
    for (const Tree* shard : shards) all.push_back(shard->tensor());
    return all;
  };
  if (first.mark() == "moments") {
    std::vector<Tree> all;
    for (const Tree* shard : shards) all.push_back(*shard);
    return tree(std::span<const Tree>(all), [](const Tree& a, const Tree& b) { return merge_moments(a, b); });
  }
  if (first.mark() == "sum") return Tree(add_tree(tensors()));
  if (first.mark() == "mean") {
    auto all = tensors();
    for (size_t j = 0; j < all.size(); ++j) all[j] = multiply(all[j], constant_like(all[j], shares[j]));
    return Tree(add_tree(all));
  }
  if (first.is_leaf()) {
    if (has_batch(first.tensor())) return Tree(concatenate(tensors(), 0));
    throw Error(ErrorKind::usage, 222, fmt::format("the result \"{}\" cannot be combined over shards", path))
        .got(first.tensor().spec().text())
        .expected("a tensor with a B label, a subtree marked \"moments\", or a value with a rule")
        .help("wrap it in mean_over_shards(...) or sum_over_shards(...)");
  }
  Tree result;
  for (const auto& [name, child] : first.children()) {
    std::vector<const Tree*> children;
    for (const Tree* shard : shards) children.push_back(&(*shard)[name]);
    result[name] = combine_aux(children, shares, path.empty() ? name : path + "/" + name);
  }
  result.set_mark(first.mark());
  return result;
}

}  // namespace

Tree mean_over_shards(const Tensor& value) { return Tree(value).set_mark("mean"); }
Tree sum_over_shards(const Tensor& value) { return Tree(value).set_mark("sum"); }

Tree ShardCut::slice(const Tree& argument) const {
  if (!cuts_) return argument;
  return map(argument, [&](const Tensor& tensor) {
    if (!has_batch(tensor)) return tensor;
    const int64_t start = samples_.first - (whole_ > batch_ ? tensor.spec().part.first : 0);
    return retrace::slice(tensor, {.begin = {start}, .end = {start + samples_.count}});
  });
}

ShardPlan::ShardPlan(int shards, const Worker* worker) : shards_(shards), worker_(worker) {
  if (shards < 1)
    throw Error(ErrorKind::usage, 221, fmt::format("shards = {} is not possible", shards)).expected("1 or more");
}

void ShardPlan::note(const Tree& argument) {
  for (const auto& [path, tensor] : leaves(argument)) {
    if (!has_batch(tensor)) continue;
    const int64_t size = tensor.shape()[0];
    if (batch_ >= 0 && size != batch_)
      throw Error(ErrorKind::usage, 223, fmt::format("arguments with a B label have {} and {} samples", batch_, size))
          .got(fmt::format("{}{}", path.empty() ? "" : path + " ", tensor.spec().text()))
          .expected("one batch size for all of them");
    batch_ = size;
    if (tensor.spec().part.whole > 0) part_ = tensor.spec().part;
  }
}

std::vector<ShardCut> ShardPlan::cuts() const {
  const bool alone = !worker_ || worker_->size() == 1;
  if (batch_ < 0) {
    if (shards_ == 1 && alone) return {ShardCut({0, 0}, 0, 0, false)};
    throw Error(ErrorKind::usage, 224, "shards need an argument with a B label")
        .help("give the mini-batch its labels, for example \"BSSC\"");
  }
  if (!alone && part_.whole == 0)
    throw Error(ErrorKind::usage, 225, "a batch does not say where it stands in the whole mini-batch")
        .help("take it from queue.share(worker, shards)");
  const int64_t whole = alone ? batch_ : part_.whole;
  if (shards_ == 1) return {ShardCut({part_.whole > 0 ? part_.first : 0, batch_}, whole, batch_, false)};
  std::vector<ShardCut> cuts;
  const Range mine = alone ? Range{0, shards_} : worker_->shards(shards_);
  for (int64_t j = mine.first; j < mine.first + mine.count; ++j)
    if (const Range samples = part_of(whole, shards_, j); samples.count > 0)
      cuts.emplace_back(samples, whole, batch_, true);
  if (cuts.empty()) cuts.emplace_back(Range{0, 0}, whole, batch_, true);
  return cuts;
}

struct ShardedGradient::Draws {
  std::optional<DrawScope> own;
  DrawScope* scope = nullptr;  // in which this call begins shards; null: a call around this one does
  int64_t first_ordinal = 0;
};

ShardedGradient::ShardedGradient(const ShardPlan& plan, uint64_t seed, int64_t step, bool outermost)
    : plan_(plan), draws_(std::make_unique<Draws>()) {
  if (outermost) draws_->own.emplace(random_key(seed).tensor(step));
  if (DrawScope* const scope = DrawScope::current(); scope && !scope->in_shard())
    draws_->scope = scope, draws_->first_ordinal = scope->ordinal();
}

ShardedGradient::~ShardedGradient() {
  if (draws_->scope) draws_->scope->end_shards();
}

Tree ShardedGradient::begin(const Tree& parameters, const ShardCut& cut) {
  if (draws_->scope) draws_->scope->begin_shard(cut.samples().first, draws_->first_ordinal);
  parameters_ = parameters;
  whole_ = cut.whole();
  shards_.push_back({cut.samples(), {}, {}, {}});
  return alias_ = map(parameters, [](const Tensor& tensor) { return identity(tensor); });
}

void ShardedGradient::end(const Tensor& loss, const Tree& aux, Place place) {
  auto& shard = shards_.back();
  shard.loss = loss;
  shard.gradients = gradients(loss, leaf_tensors(alias_), place);
  shard.aux = aux;
}

ShardedGradient::Result ShardedGradient::combine() {
  if (plan_.shards() == 1) return {shards_[0].loss, with_leaves(parameters_, shards_[0].gradients), shards_[0].aux};
  std::vector<double> shares;
  std::vector<Tensor> losses;
  for (const auto& shard : shards_) {
    // Counts are rounded to binary32 where they are used; so is their quotient.
    shares.push_back(static_cast<double>(static_cast<float>(shard.samples.count) / static_cast<float>(whole_)));
    losses.push_back(multiply(shard.loss, constant_like(shard.loss, shares.back())));
  }
  std::vector<Tensor> sums;
  for (size_t i = 0; i < shards_[0].gradients.size(); ++i) {
    std::vector<Tensor> parts;
    for (size_t j = 0; j < shards_.size(); ++j)
      parts.push_back(multiply(shards_[j].gradients[i], constant_like(shards_[j].gradients[i], shares[j])));
    sums.push_back(add_tree(parts));
  }
  std::vector<const Tree*> aux;
  for (const auto& shard : shards_) aux.push_back(&shard.aux);
  return {add_tree(losses), with_leaves(parameters_, sums), combine_aux(aux, shares, "")};
}

void evaluate_outermost(Place place) { evaluate(place); }

}  // namespace retrace
