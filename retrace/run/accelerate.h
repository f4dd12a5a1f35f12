#pragma once
// accelerate(f): a function that does what f does, and runs f only for arguments of a new form.

#include <array>
#include <span>

#include "retrace/plan/compile.h"
#include "retrace/run/call_parts.h"

namespace retrace {

// What accelerate returns: call it like f. Copies share the cache; moving copies.
template <class F>
class AcceleratedFunction {
 public:
  AcceleratedFunction(F f, AccelerateOptions options, Place place)
      : f_(std::move(f)), own_(std::make_shared<Accelerator>(options, place)) {
    if constexpr (requires { f_.seed(); }) own_->options.seed = f_.seed();
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
  void enabled(bool on) { own_->options.enabled = on; }
  int cache_size() const { return own_->options.cache_size; }
  void cache_size(int size) { own_->set_cache_size(size); }
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
  void check_mode(Check mode) { own_->options.check_mode = mode; }
  double check_tolerance() const { return own_->options.check_tolerance; }
  void check_tolerance(double tolerance) { own_->options.check_tolerance = tolerance; }
  // The first part of the key that differed at the last miss from that of the call before.
  std::string why() const { return own_->why(); }
  const F& function() const { return f_; }

  // The number of outermost calls so far: the `step` of random draws. Save it with a run to continue its draws.
  int64_t calls() const { return own_->calls; }
  void set_calls(int64_t calls) { own_->calls = calls; }
  uint64_t seed() const { return own_->options.seed; }

 private:
  template <class... A>
  auto call_with(std::span<const bool> given, const A&... arguments) const {
    using R = std::decay_t<std::invoke_result_t<const F&, detail::PlainArgument<A>...>>;
    static_assert(!std::is_void_v<R>, "an accelerated function returns something");
    const OpenCall open(own_->made);
    own_->check_thread();
    if (!CallScope::active()) ++own_->calls;
    if (!own_->active()) return run_plainly<R>(arguments...);
    auto call = own_->take_call();
    call.given = given;
    const bool any_batch = own_->options.any_batch && read_arguments(call, true, arguments...);
    if (!any_batch || own_->refuses_any_batch(call.key)) read_arguments(call, false, arguments...);
    auto function = own_->find(call.key);
    const bool hit = function != nullptr;
    if (!hit) own_->compute_for_workers(call), function = record_new<R>(call, arguments...);
    own_->compute(*function, call);
    R result = std::any_cast<const R&>(function->prototype);
    size_t next = 0;
    detail::write_leaves<detail::Where::result>(result,
                                                [&](Tensor& tensor) { tensor = std::move(call.results[next++]); });
    if (hit && own_->options.check_mode != Check::off) check(*function, call, result, arguments...);
    own_->give_back(std::move(call));
    return result;
  }

  // False if any_batch is wanted and does not suit the arguments.
  template <class... A>
  bool read_arguments(Accelerator::Call& call, bool any_batch, const A&... arguments) const {
    const DrawScope* const draws = DrawScope::current();
    call.leaves.clear(), call.batch = 0;
    call.key.begin(typeid(std::tuple<A...>), draws && draws->in_shard());
    detail::ArgumentReader reader{call, any_batch};
    size_t next = 0;
    const auto read = [&](const auto& argument) {
      reader.given = call.given[next++] && own_->options.check_mode == Check::off;
      detail::visit_parts<detail::Where::argument>(argument, reader);
    };
    (read(arguments), ...);
    return reader.one_batch && call.batch > 0;
  }

  // batch > 0: as if the mini-batch had that size.
  template <class R, class... A>
  RecordedFunction record(const Accelerator::Call& call, int64_t batch, const A&... arguments) const {
    const RecordingGuard guard(*own_, call.key);
    FunctionRecorder recorder(call.leaves, batch, own_->made);
    // In braces: from left to right.
    const std::tuple<detail::RecordedArgument<A>...> seen{
        detail::recorded_argument(arguments, recorder, own_->made)...};
    R result = std::apply(f_, seen);
    detail::write_leaves<detail::Where::result>(result, [&](Tensor& tensor) { recorder.take_result(tensor); });
    RecordedFunction function = recorder.finish();
    detail::FormReader reader;
    detail::visit_parts<detail::Where::result>(result, reader);
    function.form = std::move(reader.key);
    function.prototype = std::move(result);
    return function;
  }

  template <class R, class... A>
  std::shared_ptr<RecordedFunction> record_new(Accelerator::Call& call, const A&... arguments) const {
    auto function = std::make_shared<RecordedFunction>(record<R>(call, 0, arguments...));
    function->instances[0].batch = call.batch;
    if (const std::string problem = call.batch ? find_batch_rule<R>(*function, call, arguments...) : "";
        !problem.empty()) {
      own_->refuse_any_batch(call.key, problem);
      read_arguments(call, false, arguments...);
    }
    function->key = call.key;
    if (!CallScope::active()) function->instances[0].plan = make_plan(function->instances[0].trace);
    own_->keep(function);
    return function;
  }

  // "", or why there is none.
  template <class R, class... A>
  std::string find_batch_rule(RecordedFunction& function, const Accelerator::Call& call, const A&... arguments) const {
    const auto sizes = probe_sizes(function.instances[0].trace.values);
    std::vector<RecordedFunction> probes;
    try {
      for (int64_t size : sizes) probes.push_back(record<R>(call, size, arguments...));
    } catch (const Error& error) {
      return error.message();  // what suits this size only
    }
    return function.find_rule(probes, sizes);
  }

  template <class R, class... A>
  R run_plainly(const A&... arguments) const {
    const auto run = [&]() -> R { return f_(detail::plain_argument(arguments, own_->made)...); };
    if (CallScope::active()) return run();
    R result = [&] {
      const CallScope scope;
      const DrawScope draws(random_key(own_->options.seed).tensor(own_->calls));
      return run();
    }();
    evaluate(own_->made);
    return result;
  }

  template <class R, class... A>
  void check(const RecordedFunction& function, const Accelerator::Call& call, const R& result,
             const A&... arguments) const {
    if (CallScope::active()) return own_->check_recordings(function, record<R>(call, 0, arguments...));
    check_replay(detail::named_results(result), detail::named_results(run_plainly<R>(arguments...)), own_->options,
                 own_->made);
  }

  F f_;
  std::shared_ptr<Accelerator> own_;
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
AcceleratedFunction<F> accelerate(F f, AccelerateOptions options = {}, Place place = Place::here()) {
  return AcceleratedFunction<F>(std::move(f), options, place);
}

}  // namespace retrace
