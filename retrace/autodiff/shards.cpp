#include "retrace/autodiff/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "retrace/autodiff/gradient.h"
#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/all_reduce/all_reduce_op.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/identity/identity.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/op.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"

namespace retrace {
namespace {

// Values of this worker's shards, added or merged along the tree over the shards of all workers.
class Combiner {
 public:
  Combiner(const ShardSplit& split, std::vector<double> shares, Place place)
      : split_(split), runs_(split.runs(split.worker)), shares_(std::move(shares)), place_(place) {}

  Tensor weighted_sum(std::vector<Tensor> items) const {
    const DType type = items[0].type();
    widen(items);
    for (size_t j = 0; j < items.size(); ++j) items[j] = multiply(items[j], constant_like(items[j], shares_[j]));
    return cast(sum(std::move(items)), type);
  }
  Tensor sum(std::vector<Tensor> items) const {
    const DType type = items[0].type();
    widen(items);
    const auto partials = partials_of(std::move(items), [](const Tensor& a, const Tensor& b) { return add(a, b); });
    return cast(split_.workers == 1 ? partials[0] : all_reduce(partials, split_, place_), type);
  }
  // Each item: one norm's moments of all shards. The partials of all norms are made before any of them travels.
  std::vector<Tree> moments(const std::vector<std::vector<Tree>>& items) const {
    const auto merge = [](const Tree& a, const Tree& b) { return merge_moments(a, b); };
    std::vector<std::vector<Tree>> partials;
    for (const auto& norm : items) partials.push_back(partials_of(norm, merge));
    std::vector<Tree> merged;
    if (split_.workers == 1) {
      for (const auto& norm : partials) merged.push_back(norm[0]);
      return merged;
    }
    std::vector<std::vector<Tensor>> gathered;
    for (const auto& norm : partials) gathered.push_back(gather(norm));
    for (size_t i = 0; i < partials.size(); ++i) merged.push_back(merge_all(gathered[i], partials[i][0]));
    return merged;
  }
  const ShardSplit& split() const { return split_; }

 private:
  // bf16 and f16 are summed in f32 and rounded once, at the root of the tree: so no rounding depends on where the
  // workers cut it.
  static void widen(std::vector<Tensor>& items) {
    for (Tensor& item : items)
      if (is_half(item.type())) item = cast(item, DType::f32);
  }
  // The subtree of each run of this worker; a worker without any gives one item.
  template <class T, class Combine>
  std::vector<T> partials_of(std::vector<T> items, const Combine& combine) const {
    std::vector<T> partials;
    const int64_t first = runs_.empty() ? 0 : runs_[0].first;
    for (const Range& run : runs_) {
      std::vector<Range> alone;
      std::vector<T> own;
      for (int64_t j = 0; j < run.count; ++j) {
        alone.push_back({j, 1});
        own.push_back(items[static_cast<size_t>(run.first - first + j)]);
      }
      combine_runs(alone, own, [&](T& a, const T& b) { a = combine(a, b); });
      partials.push_back(own[0]);
    }
    if (partials.empty()) partials.push_back(items[0]);
    return partials;
  }
  // For each leaf, the partials of all workers along a new axis.
  std::vector<Tensor> gather(const std::vector<Tree>& partials) const {
    std::vector<Tensor> gathered;
    for (size_t leaf = 0; leaf < leaf_tensors(partials[0]).size(); ++leaf) {
      std::vector<Tensor> own;
      for (const Tree& partial : partials) own.push_back(leaf_tensors(partial)[leaf]);
      gathered.push_back(all_gather(own, split_, place_));
    }
    return gathered;
  }
  // The moments of all runs along the tree. Those of runs of one size are merged a level of the tree at a time: the
  // number of ops does not grow with that of the workers.
  Tree merge_all(const std::vector<Tensor>& gathered, const Tree& like) const {
    const auto runs = split_.all_runs();
    if (std::all_of(runs.begin(), runs.end(), [&](const Range& run) { return run.count == runs[0].count; }))
      return merge_levels(gathered, like);
    auto all = cut(gathered, like);
    combine_runs(runs, all, [&](Tree& a, const Tree& b) { a = merge_moments(a, b); });
    return all[0];
  }
  Tree merge_levels(std::vector<Tensor> rows, const Tree& like) const {
    const auto leaves = leaf_tensors(like);
    const auto width = [](const Tensor& leaf) { return leaf.shape().count(); };
    int64_t count = rows[0].shape()[0];
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = reshape(rows[i], {count, width(leaves[i])});
    for (; count > 1; count = (count + 1) / 2) {
      const int64_t pairs = count / 2;
      std::vector<Tensor> sides[2];
      for (const Tensor& row : rows) {
        const int64_t size = row.shape()[1];
        const Tensor paired = reshape(slice(row, {.begin = {0}, .end = {2 * pairs}}), {pairs, 2 * size});
        for (int64_t side : {0, 1})
          sides[side].push_back(slice(paired, {.begin = {0, side * size}, .end = {pairs, (side + 1) * size}}));
      }
      auto merged = leaf_tensors(merge_moments(with_leaves(like, sides[0]), with_leaves(like, sides[1])));
      for (size_t i = 0; count % 2 && i < rows.size(); ++i)
        merged[i] = concatenate({merged[i], slice(rows[i], {.begin = {count - 1}, .end = {count}})}, 0);
      rows = std::move(merged);
    }
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = reshape(rows[i], leaves[i].shape(), leaves[i].labels());
    return with_leaves(like, rows);
  }
  // Takes them apart again, as trees like this one.
  std::vector<Tree> cut(const std::vector<Tensor>& gathered, const Tree& like) const {
    const auto shapes = leaf_tensors(like);
    std::vector<Tree> trees;
    for (int64_t r = 0; r < gathered[0].shape()[0]; ++r) {
      std::vector<Tensor> own;
      for (size_t leaf = 0; leaf < shapes.size(); ++leaf)
        own.push_back(reshape(slice(gathered[leaf], {.begin = {r}, .end = {r + 1}}), shapes[leaf].shape(),
                              shapes[leaf].labels()));
      trees.push_back(with_leaves(like, own));
    }
    return trees;
  }

  ShardSplit split_;
  std::vector<Range> runs_;
  std::vector<double> shares_;
  Place place_;
};

// The auxiliary results of this worker's shards, place by place.
class AuxCombiner {
 public:
  AuxCombiner(const Combiner& combiner, const std::vector<const Tree*>& shards) : combiner_(combiner) {
    std::vector<std::vector<Tree>> norms;
    collect(shards, norms);
    moments_ = combiner.moments(norms);
  }

  Tree combine(const std::vector<const Tree*>& shards, const std::string& path = "") {
    const Tree& first = *shards[0];
    if (first.mark() == "moments") return moments_[next_++];
    if (first.mark() == "sum") return Tree(combiner_.sum(tensors(shards)));
    if (first.mark() == "mean") return Tree(combiner_.weighted_sum(tensors(shards)));
    if (first.is_leaf()) return leaf(shards, path);
    Tree result;
    for (const auto& [name, child] : first.children())
      result[name] = combine(children(shards, name), path.empty() ? name : path + "/" + name);
    return result.set_mark(first.mark());
  }

 private:
  static std::vector<Tensor> tensors(const std::vector<const Tree*>& shards) {
    std::vector<Tensor> all;
    for (const Tree* shard : shards) all.push_back(shard->tensor());
    return all;
  }
  static std::vector<const Tree*> children(const std::vector<const Tree*>& shards, const std::string& name) {
    std::vector<const Tree*> all;
    for (const Tree* shard : shards) all.push_back(&(*shard)[name]);
    return all;
  }
  void collect(const std::vector<const Tree*>& shards, std::vector<std::vector<Tree>>& norms) const {
    const Tree& first = *shards[0];
    if (first.mark() == "moments") {
      auto& all = norms.emplace_back();
      for (const Tree* shard : shards) all.push_back(*shard);
    } else if (!first.is_leaf()) {
      for (const auto& [name, child] : first.children()) collect(children(shards, name), norms);
    }
  }
  Tree leaf(const std::vector<const Tree*>& shards, const std::string& path) const {
    const Tree& first = *shards[0];
    if (first.tensor().spec().batch_first()) return shards.size() == 1 ? first : Tree(concatenate(tensors(shards), 0));
    if (shards.size() == 1 && combiner_.split().workers == 1) return first;
    throw Error(ErrorKind::usage, 222, fmt::format("the result \"{}\" cannot be combined over shards", path))
        .got(first.tensor().spec().text())
        .expected("a tensor with a B label, a subtree marked \"moments\", or a value with a rule")
        .help("wrap it in mean_over_shards(...) or sum_over_shards(...)");
  }

  const Combiner& combiner_;
  std::vector<Tree> moments_;  // in the order of the places
  size_t next_ = 0;
};

// Integers have no gradient; a path is made only when something is wrong.
void check_parameters(const Tree& parameters, Place place) {
  const auto is_integer = [](const Tensor& tensor) { return !is_float(tensor.type()); };
  const auto tensors = leaf_tensors(parameters);
  const auto found = std::find_if(tensors.begin(), tensors.end(), is_integer);
  if (found == tensors.end()) return;
  const std::string path = leaves(parameters)[static_cast<size_t>(found - tensors.begin())].first;
  throw Error(ErrorKind::usage, 232,
              path.empty() ? "the parameter is no float tensor: it has no gradient"
                           : fmt::format("the parameter \"{}\" is no float tensor: it has no gradient", path))
      .where(place)
      .got(found->spec().text())
      .expected("f32 or f64")
      .help("pass it as another argument of the function: gradients are taken for the first one");
}

// The tree with one tensor in place of each leaf.
Tree in_place(Tree tree, const std::vector<Tensor>& tensors) {
  size_t next = 0;
  tree.visit_leaves([&](Tensor& leaf) { leaf = tensors[next++]; });
  return tree;
}

// Indices of recorded tensors, those that were recorded first in front.
std::vector<size_t> found_order(const std::vector<Tensor>& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return tensors[a].value()->id < tensors[b].value()->id; });
  return order;
}

}  // namespace

ShardedGradient::ShardedGradient(const ShardPlan& plan, uint64_t seed, const std::string& name, int64_t step,
                                 bool outermost)
    : plan_(plan) {
  if (plan.check()) {
    plan.check()->add("seed", fmt::format("{}", seed)), plan.check()->add("name", name);
    plan.check()->add("calls", outermost ? fmt::format("{}", step) : "");
  }
  if (outermost) draws_.own.emplace(function_key(seed, name).tensor(step));
  if (DrawScope* const scope = DrawScope::current(); scope && !scope->in_shard())
    draws_.scope = scope, draws_.first_ordinal = scope->ordinal();
}

ShardedGradient::~ShardedGradient() {
  if (draws_.scope) draws_.scope->end_shards();
}

const Tree& ShardedGradient::begin(const Tree& parameters, const ShardCut& cut, Place place) {
  check_parameters(parameters, place);
  if (draws_.scope) draws_.scope->begin_shard(cut.samples().first, draws_.first_ordinal);
  if (plan_.check() && shards_.empty()) plan_.check()->add_argument("parameters", parameters);
  whole_ = cut.whole();
  shards_.push_back({cut.samples(), {}, {}, {}});
  alias_ = map(parameters, [](const Tensor& tensor) { return identity(tensor); });
  if (plan_.check()) plan_.check()->begin_shard();
  return alias_;
}

void ShardedGradient::end(const Tensor& loss, Tree aux, Place place) {
  auto& shard = shards_.back();
  shard.loss = loss;
  shard.gradients = gradients(loss, leaf_tensors(alias_), place);
  shard.aux = std::move(aux);
  if (plan_.check()) plan_.check()->end_shard(shard.samples.count);
}

ShardedGradient::Result ShardedGradient::combine(Place place) {
  const ShardSplit split = plan_.split();
  if (plan_.check()) plan_.check()->compare(*plan_.worker());
  if (split.shards == 1)
    return {shards_[0].loss, in_place(std::move(alias_), shards_[0].gradients), std::move(shards_[0].aux)};
  std::vector<double> shares;
  std::vector<const Tree*> aux;
  std::vector<Tensor> losses;
  for (const auto& shard : shards_) {
    // Counts are rounded to binary32 where they are used; so is their quotient.
    shares.push_back(static_cast<double>(static_cast<float>(shard.samples.count) / static_cast<float>(whole_)));
    aux.push_back(&shard.aux);
    losses.push_back(shard.loss);
  }
  const Combiner combiner(split, shares, place);
  // In the order in which the backward pass finds them: the first ones travel while the others are computed.
  std::vector<Tensor> sums(shards_[0].gradients.size());
  for (size_t i : found_order(shards_[0].gradients)) {
    std::vector<Tensor> parts;
    for (const auto& shard : shards_) parts.push_back(shard.gradients[i]);
    sums[i] = combiner.weighted_sum(std::move(parts));
  }
  const Tensor loss = combiner.weighted_sum(std::move(losses));
  return {loss, in_place(std::move(alias_), sums), AuxCombiner(combiner, aux).combine(aux)};
}

}  // namespace retrace
