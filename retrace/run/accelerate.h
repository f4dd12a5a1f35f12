#pragma once
// accelerate(f): a function that does what f does, and runs f only for arguments of a new form.

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "retrace/run/call_parts.h"

namespace retrace {

// What accelerate returns: call it like f. Copies share the cache; moving copies.
template <class F>
class AcceleratedFunction {
 public:
  AcceleratedFunction(F f, const AccelerateOptions& options, Place place)
      : f_(std::move(f)), own_(std::make_shared<detail::Accelerator>(options, place)) {
    if constexpr (requires { f_.seed(), f_.name(), f_.calls(); })  // made by value_and_grad
      own_->options.seed = f_.seed(), own_->options.name = f_.name();
  }
  AcceleratedFunction(const AcceleratedFunction&) = default;  // moving copies: what is left still works
  AcceleratedFunction& operator=(const AcceleratedFunction&) = default;

  template <class... A>
  auto operator()(A&&... arguments) const {
    constexpr bool takes_them = std::is_invocable_v<const F&, detail::PlainArgument<std::remove_cvref_t<A>>...>;
    constexpr bool takes_floats = std::is_invocable_v<const F&, const std::remove_cvref_t<A>&...>;
    static_assert(takes_them || !takes_floats,
                  "a function that is accelerated takes floats as `const Operand&`: their values may change without a "
                  "new trace");
    static_assert(takes_them || takes_floats,
                  "the function does not take these arguments: one that is accelerated takes as many as it is called "
                  "with, by value or by const reference");
    if constexpr (takes_them) {
      constexpr std::array<bool, sizeof...(A)> given{!std::is_reference_v<A>...};
      const std::tuple<A...> own(std::forward<A>(arguments)...);
      return std::apply([&](const auto&... all) { return call_with(given, all...); }, own);
    }
  }

  bool enabled() const { return own_->options.enabled; }
  // false: f is called, and nothing is counted.
  void set_enabled(bool on) { own_->options.enabled = on; }
  int64_t cache_size() const { return own_->options.cache_size; }
  void set_cache_size(int64_t size) { own_->set_cache_size(size); }
  // Percent of the calls since the last clear_cache() that were replayed.
  double hit_rate() const { return own_->hit_rate(); }
  // Percent of cache_size in use.
  double occupancy() const { return own_->occupancy(); }
  int64_t hits() const { return own_->hits; }
  int64_t misses() const { return own_->misses; }
  int64_t evictions() const { return own_->evictions; }
  // Drops all traces and sets the counters to 0.
  void clear_cache() { own_->clear(); }
  // At each hit the function is also run, or recorded. An Error(usage) says what differs: then the function has
  // changed.
  Check check_mode() const { return own_->options.check_mode; }
  void set_check_mode(Check mode) { own_->options.check_mode = mode; }
  double check_tolerance() const { return own_->options.check_tolerance; }
  void set_check_tolerance(double tolerance) { own_->options.check_tolerance = tolerance; }
  // The first part of the key that differed at the last miss from that of the call before.
  std::string why() const { return own_->why(); }
  const F& function() const { return f_; }
  // The plan by which arguments of this form would be computed. f is recorded as in a call; nothing is computed, and
  // neither is a value of the arguments: specs are enough.
  template <class... A>
  std::shared_ptr<const Plan> plan(const A&... arguments) const {
    constexpr std::array<bool, sizeof...(A)> given{};
    detail::AcceleratedCall call(*own_, typeid(std::tuple<A...>), given);
    const auto read = [&](detail::ArgumentReader& reader) { (read_argument(arguments, reader), ...); };
    const auto record = [&](FunctionRecorder& recorder) { return record_call<Result<A...>>(recorder, arguments...); };
    return call.plan({read, record});
  }

  // The number of outermost calls so far: the `step` of random draws. Save it with a run to continue its draws.
  int64_t calls() const { return own_->calls; }
  void set_calls(int64_t calls) { own_->calls = calls; }
  uint64_t seed() const { return own_->options.seed; }
  const std::string& name() const { return own_->options.name; }

 private:
  template <class... A>
  using Result = std::decay_t<std::invoke_result_t<const F&, detail::PlainArgument<A>...>>;

  template <class... A>
  auto call_with(std::span<const bool> given, const A&... arguments) const {
    using R = Result<A...>;
    static_assert(!std::is_void_v<R>, "an accelerated function returns something");
    detail::AcceleratedCall call(*own_, typeid(std::tuple<A...>), given);
    call.count();
    if (!own_->active()) return run_plainly<R>(arguments...);
    const auto read = [&](detail::ArgumentReader& reader) { (read_argument(arguments, reader), ...); };
    const auto record = [&](FunctionRecorder& recorder) { return record_call<R>(recorder, arguments...); };
    const detail::TypedCall typed{read, record};
    R result = *static_cast<const R*>(call.compute(typed));
    Tensor* next = call.results();
    detail::write_leaves<detail::Where::result>(result, [&](Tensor& tensor) { tensor = std::move(*next++); });
    if (check_mode() != Check::off && call.wants_plain_result(typed))
      check_replay(detail::named_results(result), detail::named_results(run_plainly<R>(arguments...)), own_->options,
                   own_->made);
    return result;
  }

  template <class T>
  static void read_argument(const T& argument, detail::ArgumentReader& reader) {
    reader.begin_argument();
    detail::visit_parts<detail::Where::argument>(argument, reader);
  }

  // The result, with anything in its leaves, which the recorder has.
  template <class R, class... A>
  std::shared_ptr<const void> record_call(FunctionRecorder& recorder, const A&... arguments) const {
    // In braces: from left to right.
    const std::tuple<detail::RecordedArgument<A>...> seen{
        detail::recorded_argument(arguments, recorder, own_->made)...};
    auto result = std::make_shared<R>(std::apply(f_, seen));
    detail::write_leaves<detail::Where::result>(*result,
                                                [&](Tensor& tensor) { detail::take_result(recorder, tensor); });
    detail::FormReader form{recorder};
    detail::visit_parts<detail::Where::result>(*result, form);
    return result;
  }

  template <class R, class... A>
  R run_plainly(const A&... arguments) const {
    std::optional<R> result;
    own_->run_plainly([&] { result.emplace(f_(detail::plain_argument(arguments, own_->made)...)); });
    return std::move(*result);
  }

  F f_;
  std::shared_ptr<detail::Accelerator> own_;
};

// Makes a function that records f once for each form of its arguments and afterwards replays the recorded trace on the
// new values. The bits are those of f.
//
//   auto step = accelerate(value_and_grad(loss));
//   auto [value, gradients] = step(parameters, images, labels);   // first call: recorded and planned; then replayed
//
// With accelerate you promise that f depends on its arguments alone. The form of the arguments is: types, shapes and
// labels of tensors; names and nesting of trees; the values of whole numbers, booleans, enumerations, texts and shapes.
// The values of tensors and of floats are no part of it: a float or double reaches f as an Operand whose value may
// change (so f takes `const Operand&`, not float). Arguments and results: see retrace/run/parts.h.
//
// Where the caller is itself recorded (inside value_and_grad or another accelerated function), the trace becomes part
// of that recording and can be differentiated; otherwise the results are values. Random draws are fresh at each call.
// While f is recorded, it is an Error(usage) to read a value, a mini-batch queue or a datastore, or to use a recorded
// tensor from outside that is not an argument. docs/tracing.md lists what may surprise.
//
// With any_batch one recording serves all sizes of the axis B from 2 on. f is then recorded at three more sizes (and
// runs as often), the numbers in the trace that follow the size are found, and a new size is only planned. Where f
// depends on the size in another way (a value that suits this size only, a host number made of it, shards), each size
// is recorded, and why() says what was in the way.
//
// An argument that is moved into the call, f(std::move(state), x), belongs to the call and is gone for the caller, at
// any speed. This is donation: if no other handle holds one of its tensors, a result is made in that tensor's memory
// (Plan::donors). A step that takes the parameters in this way updates them in place and needs no memory but its arena.
// Every other value stays what it was.
//
// An accelerated function belongs to the thread that calls it first. RETRACE_PLAN_CACHE=off makes all of them call f.
template <class F>
AcceleratedFunction<F> accelerate(F f, const AccelerateOptions& options = {}, Place place = Place::here()) {
  return AcceleratedFunction<F>(std::move(f), options, place);
}

// The plan of f for arguments of this form, as a text for people: the operations after optimization, kernel calls with
// what was fused into them, and why not more was; memory. f is recorded as accelerate records it, and is not run.
template <class F, class... A>
std::string explain(F f, const A&... arguments) {
  return detail::text_of(*accelerate(std::move(f)).plan(arguments...));
}

}  // namespace retrace
