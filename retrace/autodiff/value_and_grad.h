#pragma once
// value_and_grad(f): a function that returns f's loss, its gradient for the first argument, and f's other results.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "retrace/base/owned.h"
#include "retrace/tensor/tree.h"

namespace retrace {

class Worker;

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
  int64_t shards = 1;
  Worker* worker = nullptr;  // null: alone
  uint64_t seed = 0;         // of random ops inside f
  std::string name = "";     // part of their draws: functions of one seed and different names draw differently
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

// What the copies of a function made by value_and_grad share.
struct GradientCalls {
  int64_t count = 0;      // outermost ones so far
  bool compared = false;  // with the other workers
};

// One call of such a function: all that does not depend on the user's types. The rest of its life is that of the
// recording: note the arguments, begin_shards(), for each shard begin(), slice() and end(), then combine().
class GradientCall {
 public:
  struct Result {
    Tensor loss;
    Tree gradients, aux;
  };

  GradientCall(const GradientOptions& options, GradientCalls& calls, Place place);
  ~GradientCall();
  GradientCall(const GradientCall&) = delete;
  GradientCall& operator=(const GradientCall&) = delete;
  // Whether no such call is around this one.
  bool outermost() const;
  // Throws Error(usage) if batch sizes differ while there are several shards or workers, or if a batch does not say its
  // part while there are several workers.
  void note(const Tree& argument);
  void note_number(double argument);
  // The number of shards of this worker that have samples.
  size_t begin_shards();
  // The parameters as f sees them: new leaves of the trace. Error(usage) for one that is no float tensor.
  const Tree& begin(size_t shard, const Tree& parameters);
  // An argument with each leaf that has a B label restricted to the shard's samples.
  Tree slice(size_t shard, const Tree& argument) const;
  // The loss is differentiated.
  void end(const Tensor& loss, Tree aux);
  Result combine();

 private:
  struct State;
  Owned<State> state_;
};

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
decltype(auto) shard_argument(const T& argument, const GradientCall& call, size_t shard) {
  if constexpr (std::is_convertible_v<const T&, const Tree&> || std::is_convertible_v<const T&, const Tensor&>)
    return from_tree<std::decay_t<T>>(call.slice(shard, to_tree(argument)));
  else
    return argument;
}

template <class T>
void note_batch(GradientCall& call, const T& argument) {
  if constexpr (std::is_convertible_v<const T&, const Tree&> || std::is_convertible_v<const T&, const Tensor&>)
    call.note(to_tree(argument));
  else if constexpr (std::is_arithmetic_v<T>)
    call.note_number(static_cast<double>(argument));
}

template <class T>
using ShardArgument = decltype(shard_argument(std::declval<const T&>(), std::declval<const GradientCall&>(), size_t{}));

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
  GradientFunction(F f, const GradientOptions& options, Place place)
      : f_(std::move(f)), options_(options), place_(place), calls_(std::make_shared<detail::GradientCalls>()) {}

  // The number of outermost calls so far: the `step` of random draws. Save it with a run to continue its draws.
  int64_t calls() const { return calls_->count; }
  void set_calls(int64_t calls) { calls_->count = calls; }
  uint64_t seed() const { return options_.seed; }
  const std::string& name() const { return options_.name; }

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
    if (outermost) evaluate(place_);
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
  detail::GradientCall::Result record_shards(bool& outermost, const Parameters& parameters,
                                             const Arguments&... arguments) const {
    detail::GradientCall call(options_, *calls_, place_);
    outermost = call.outermost();
    (detail::note_batch(call, arguments), ...);
    const size_t shards = call.begin_shards();
    for (size_t shard = 0; shard < shards; ++shard) {
      const P& alias = detail::seen_as<P>(call.begin(shard, detail::to_tree(parameters)));
      Result result = f_(alias, detail::shard_argument(arguments, call, shard)...);
      if constexpr (std::is_convertible_v<Result, Tensor>)
        call.end(result, Tree());
      else
        call.end(result.loss, std::move(result.aux));
    }
    return call.combine();
  }

  F f_;
  GradientOptions options_;
  Place place_;
  std::shared_ptr<detail::GradientCalls> calls_;
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
// Arguments with a B label have one batch size then; in one shard, by one worker, they may have several.
//
// With several workers the first call compares what they do: shards, parameters, arguments without a B label, and the
// recorded operations. Error(usage) on all of them names what differs.
template <class F>
GradientFunction<F> value_and_grad(F f, const GradientOptions& options = {}, Place place = Place::here()) {
  return GradientFunction<F>(std::move(f), options, place);
}

// Marks a further result of f: over shards it becomes the mean, weighted by samples.
Tree mean_over_shards(const Tensor& value);

// Marks a further result of f: over shards it becomes the sum.
Tree sum_over_shards(const Tensor& value);

}  // namespace retrace
