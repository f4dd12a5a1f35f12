#include "retrace/autodiff/value_and_grad.h"

#include <optional>

#include "retrace/autodiff/shards.h"
#include "retrace/trace/call_scope.h"

namespace retrace {

Tree mean_over_shards(const Tensor& value) { return Tree(value).set_mark("mean"); }
Tree sum_over_shards(const Tensor& value) { return Tree(value).set_mark("sum"); }

namespace detail {

struct GradientCall::State {
  State(const GradientOptions& given, GradientCalls& all, Place made)
      : open(made),
        place(made),
        seed(given.seed),
        name(given.name),
        step(scope.outermost() ? ++all.count : all.count),
        plan(given.shards, given.worker, std::exchange(all.compared, true)) {}

  OpenCall open;
  CallScope scope;
  Place place;
  uint64_t seed;
  std::string name;
  int64_t step;
  ShardPlan plan;
  std::vector<ShardCut> cuts = {};
  std::optional<ShardedGradient> sharded = {};
};

GradientCall::GradientCall(const GradientOptions& options, GradientCalls& calls, Place place)
    : state_(new State(options, calls, place)) {}
GradientCall::~GradientCall() = default;

bool GradientCall::outermost() const { return state_->scope.outermost(); }
void GradientCall::note(const Tree& argument) { state_->plan.note(argument); }
void GradientCall::note_number(double argument) { state_->plan.note_number(argument); }

size_t GradientCall::begin_shards() {
  state_->sharded.emplace(state_->plan, state_->seed, state_->name, state_->step, outermost());
  state_->cuts = state_->plan.cuts();
  return state_->cuts.size();
}

const Tree& GradientCall::begin(size_t shard, const Tree& parameters) {
  return state_->sharded->begin(parameters, state_->cuts[shard], state_->place);
}

Tree GradientCall::slice(size_t shard, const Tree& argument) const { return state_->cuts[shard].slice(argument); }

void GradientCall::end(const Tensor& loss, Tree aux) { state_->sharded->end(loss, std::move(aux), state_->place); }

GradientCall::Result GradientCall::combine() { return state_->sharded->combine(state_->place); }

}  // namespace detail
}  // namespace retrace
