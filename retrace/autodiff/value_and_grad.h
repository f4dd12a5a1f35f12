#pragma once
// value_and_grad(f): a function that returns f's loss, its gradient for the first argument, and f's other results.

#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "retrace/autodiff/shards.h"
#include "retrace/distributed/worker.h"
#include "retrace/tensor/tree.h"
#include "retrace/trace/call_scope.h"

namespace retrace {

// The result of an f that has more to return than the loss: aux is a Tree or a Tensor.
template <class Aux>
struct WithAux {
  Tensor loss;
  Aux aux;
};
template <class Aux>
WithAux(Tensor, Aux) -> WithAux<Aux>;

// Options of value_and_grad.
struct GradientOptions {
  int shards = 1;
  Worker* worker = nullptr;  // null: alone
  uint64_t seed = 0;         // of random ops inside f
};

// The result of a function made by value_and_grad; gradients has the structure of the first argument.
template <class Gradients>
struct ValueAndGradient {
  Tensor value;
  Gradients gradients;
};

// The same for an f that returns WithAux.
template <class Gradients, class Aux>
struct ValueGradientAndAux {
  Tensor value;
  Gradients gradients;
  Aux aux;
};

namespace detail {

inline const Tree& to_tree(const Tree& tree) { return tree; }
inline Tree to_tree(const Tensor& tensor) { return Tree(tensor); }
template <class T>
T from_tree(Tree tree) {
  if constexpr (std::is_same_v<T, Tensor>)
    return tree.tensor();
  else
    return tree;
}

template <class T>
const T& seen_as(const Tree& tree) {
  if constexpr (std::is_same_v<T, Tensor>)
    return tree.tensor();
  else
    return tree;
}

// An argument as f sees it in one shard: trees and tensors are cut, other values pass.
template <class T>
decltype(auto) shard_argument(const T& argument, const ShardCut& cut) {
  if constexpr (std::is_convertible_v<const T&, const Tree&> || std::is_convertible_v<const T&, const Tensor&>)
    return from_tree<std::decay_t<T>>(cut.slice(to_tree(argument)));
  else
    return argument;
}

template <class T>
void note_batch(ShardPlan& plan, const T& argument) {
  if constexpr (std::is_convertible_v<const T&, const Tree&> || std::is_convertible_v<const T&, const Tensor&>)
    plan.note(to_tree(argument));
  else if constexpr (std::is_arithmetic_v<T>)
    plan.note_number(static_cast<double>(argument));
}

template <class T>
using ShardArgument = decltype(shard_argument(std::declval<const T&>(), std::declval<const ShardCut&>()));

template <class T>
constexpr bool IsTensorOrTree = std::is_same_v<T, Tensor> || std::is_convertible_v<const T&, const Tree&>;
template <class T>
constexpr bool IsWithAux = false;
template <class Aux>
constexpr bool IsWithAux<WithAux<Aux>> = std::is_same_v<Aux, Tensor> || std::is_same_v<Aux, Tree>;

}  // namespace detail

// What value_and_grad returns: call it like f. Copies share the count of calls.
template <class F>
class GradientFunction {
 public:
  GradientFunction(F f, GradientOptions options, Place place)
      : f_(std::move(f)),
        options_(options),
        place_(place),
        calls_(std::make_shared<int64_t>(0)),
        compared_(std::make_shared<bool>(false)) {}

  // The number of outermost calls so far: the `step` of random draws. Save it with a run to continue its draws.
  int64_t calls() const { return *calls_; }
  void set_calls(int64_t calls) { *calls_ = calls; }
  uint64_t seed() const { return options_.seed; }

  template <class Parameters, class... Arguments>
  auto operator()(const Parameters& parameters, const Arguments&... arguments) const {
    constexpr bool has_parameters = detail::IsTensorOrTree<Parameters>;
    static_assert(has_parameters, "the first argument, the parameters, is a retrace::Tensor or a retrace::Tree");
    using P = std::conditional_t<std::is_same_v<Parameters, Tensor>, Tensor, Tree>;
    constexpr bool takes_them = std::is_invocable_v<const F&, const P&, detail::ShardArgument<Arguments>...>;
    static_assert(takes_them || !has_parameters,
                  "the function given to value_and_grad does not take these arguments: it takes as many as it is "
                  "called with, by value or by const reference");
    if constexpr (has_parameters && takes_them) {
      using Result = std::decay_t<std::invoke_result_t<const F&, const P&, detail::ShardArgument<Arguments>...>>;
      constexpr bool returns_loss = std::is_convertible_v<Result, Tensor> || detail::IsWithAux<Result>;
      static_assert(returns_loss,
                    "the function given to value_and_grad returns the loss, a retrace::Tensor, or WithAux{loss, aux}, "
                    "aux a Tensor or a Tree");
      if constexpr (returns_loss) return call<P, Result>(parameters, arguments...);
    }
  }

 private:
  template <class P, class Result, class Parameters, class... Arguments>
  auto call(const Parameters& parameters, const Arguments&... arguments) const {
    // Everything that only served the recording is released before the outermost call evaluates: values without a
    // holder are not computed.
    bool outermost = false;
    auto combined = with_place(place_, [&] { return record_shards<P, Result>(outermost, parameters, arguments...); });
    if (outermost) evaluate_outermost(place_);
    P gradients = detail::from_tree<P>(std::move(combined.gradients));
    if constexpr (std::is_convertible_v<Result, Tensor>) {
      return ValueAndGradient<P>{combined.loss, std::move(gradients)};
    } else {
      using Aux = std::decay_t<decltype(std::declval<Result>().aux)>;
      return ValueGradientAndAux<P, Aux>{combined.loss, std::move(gradients),
                                         detail::from_tree<Aux>(std::move(combined.aux))};
    }
  }

  template <class P, class Result, class Parameters, class... Arguments>
  ShardedGradient::Result record_shards(bool& outermost, const Parameters& parameters,
                                        const Arguments&... arguments) const {
    const OpenCall open(place_);
    const CallScope scope;
    outermost = scope.outermost();
    if (outermost) ++*calls_;
    ShardPlan plan(options_.shards, options_.worker, std::exchange(*compared_, true));
    (detail::note_batch(plan, arguments), ...);
    ShardedGradient sharded(plan, options_.seed, *calls_, outermost);
    for (const ShardCut& cut : plan.cuts()) {
      const P& alias = detail::seen_as<P>(sharded.begin(detail::to_tree(parameters), cut, place_));
      Result result = f_(alias, detail::shard_argument(arguments, cut)...);
      if constexpr (std::is_convertible_v<Result, Tensor>)
        sharded.end(result, Tree(), place_);
      else
        sharded.end(result.loss, std::move(result.aux), place_);
    }
    return sharded.combine(place_);
  }

  F f_;
  GradientOptions options_;
  Place place_;
  std::shared_ptr<int64_t> calls_;
  std::shared_ptr<bool> compared_;  // whether there was a call
};

// Makes a function that calls f and differentiates its loss (reverse mode) for the first argument, a Tensor or a Tree.
//
//   auto step = value_and_grad([](const Tree& p, const Tensor& x, const Tensor& t) { return loss(p, x, t); });
//   auto [value, gradients] = step(parameters, x, t);
//
// f returns a Tensor (the loss, one f32 or f64 element) or WithAux{loss, aux}; then there is a third result. Called
// outside of any such function, it computes all that this thread recorded before it returns.
//
// With shards = S every argument that has a B label is cut into S contiguous parts: floor(B/S) samples each, the first
// B mod S parts one more. f is evaluated for each part, and the results are combined: loss and gradients are weighted
// by the parts' share of the samples and added along the tree of docs/numerics.md 0; subtrees marked "moments" are
// merged; tensors with a B label are joined again; leaves made by mean_over_shards or sum_over_shards go by their rule;
// anything else is an error. S is part of the job: it changes the result once, and then no number of workers does.
//
// With several workers the first call compares what they do: shards, parameters, arguments without a B label, and the
// recorded operations. Error(usage) on all of them names what differs.
template <class F>
GradientFunction<F> value_and_grad(F f, GradientOptions options = {}, Place place = Place::here()) {
  return GradientFunction<F>(std::move(f), options, place);
}

// Marks a further result of f: over shards it becomes the mean, weighted by samples.
Tree mean_over_shards(const Tensor& value);

// Marks a further result of f: over shards it becomes the sum.
Tree sum_over_shards(const Tensor& value);

}  // namespace retrace
