#pragma once
// Work that goes on beside a program, and its results.

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "retrace/base/owned.h"

namespace retrace {

// What futures of every type share: a piece of work that waits, goes on, or is over.
class FutureState {
 public:
  FutureState();
  virtual ~FutureState();
  FutureState(const FutureState&) = delete;
  FutureState& operator=(const FutureState&) = delete;

  bool ready() const;
  // Whether it is over after so many seconds; below 0: waits until it is. Functions of this thread's data queues are
  // called meanwhile.
  bool wait(double seconds) const;
  // Whether it is over, or will not begin any more.
  bool cancel();
  // Throws the error with which it ended, if it did.
  void check() const;
  // Does the work, unless it was cancelled.
  void run() noexcept;
  // Runs `next`, on this thread, when the work is over; at once, if it is.
  void follow(std::shared_ptr<FutureState> next);
  // Waits for one of several that is over; its number.
  static size_t wait_any(const std::vector<FutureState*>& states);

 protected:
  virtual void compute() = 0;

 private:
  struct Core;
  void finish(std::exception_ptr error) noexcept;
  Owned<Core> core_;
};

template <class R>
class Future;

// `add` is given the state of the work f(); a future of its result.
template <class F, class Add>
auto make_future(F f, const Add& add) {
  using R = std::invoke_result_t<F&>;
  using State = typename Future<R>::State;
  struct Work : State {
    explicit Work(F given) : f(std::move(given)) {}
    void compute() override {
      if constexpr (std::is_void_v<R>)
        f(), this->value.emplace();
      else
        this->value.emplace(f());
    }
    F f;
  };
  auto work = std::make_shared<Work>(std::move(f));
  add(work);
  return Future<R>(work);
}

// A result that will be there: of Pool::submit and Pool::spmd_async. Copies are the same future.
template <class R>
class Future {
 public:
  struct State : FutureState {
    struct Nothing {};
    std::optional<std::conditional_t<std::is_void_v<R>, Nothing, R>> value;
  };
  explicit Future(std::shared_ptr<State> state) : state_(std::move(state)) {}

  // Whether the work is over: done, failed or cancelled.
  bool ready() const { return state_->ready(); }
  // Waits for it, at most so many seconds (below 0: without limit); whether it is over.
  bool wait(double seconds = -1) const { return state_->wait(seconds); }
  // Waits for the result. Throws the error of the work; Error(usage) if it was cancelled.
  decltype(auto) get() const {
    state_->wait(-1);
    state_->check();
    if constexpr (!std::is_void_v<R>) return static_cast<const R&>(*state_->value);
  }
  // Work that has not begun will not begin. Whether that is so.
  bool cancel() const { return state_->cancel(); }
  // g(result), or g() for void, on the thread that finishes the work, or here if it is over; a future of what g
  // returns. If the work fails, so does this one.
  template <class G>
  auto then(G g) const {
    auto call = [state = state_, g = std::move(g)]() mutable {
      state->check();
      if constexpr (std::is_void_v<R>)
        return g();
      else
        return g(static_cast<const R&>(*state->value));
    };
    return make_future(std::move(call), [&](std::shared_ptr<FutureState> next) { state_->follow(std::move(next)); });
  }

 private:
  template <class S>
  friend size_t wait_any(const std::vector<Future<S>>& futures);
  std::shared_ptr<State> state_;
};

// Waits for the first of these to be over; its number. Error(usage) without any.
template <class R>
size_t wait_any(const std::vector<Future<R>>& futures) {
  std::vector<FutureState*> states;
  for (const auto& future : futures) states.push_back(future.state_.get());
  return FutureState::wait_any(states);
}

}  // namespace retrace
