#include "retrace/device/cuda/emulation/fibers.h"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <exception>
#include <utility>

#include "retrace/base/sanitizers.h"

#if RT_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace retrace::cuda {
namespace {

constexpr size_t kStackBytes = 256 * 1024;

// AddressSanitizer is told before a switch where it goes, and after it that it has arrived.
struct Stack {
  const void* bottom = nullptr;
  size_t bytes = 0;
};
void announce_switch([[maybe_unused]] void** keep, [[maybe_unused]] const Stack& to) {
#if RT_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(keep, to.bottom, to.bytes);
#endif
}
void announce_arrival([[maybe_unused]] void* kept, [[maybe_unused]] Stack* from) {
#if RT_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(kept, from ? &from->bottom : nullptr, from ? &from->bytes : nullptr);
#endif
}

}  // namespace

struct Fibers::Fiber {
  boost::context::fiber inside, outside;  // where to go on: the task, and who runs it
  Stack own, caller;
  void *own_kept = nullptr, *caller_kept = nullptr;
  bool busy = false;  // the task has begun and not ended
  std::exception_ptr error;
};

Fibers::Fibers(std::function<void()> task) : task_(std::move(task)) {}

Fibers::~Fibers() {
  abandon();
  for (auto& fiber : fibers_)
    if (fiber) enter(*fiber);  // that is not busy: it ends
}

void Fibers::enter(Fiber& fiber) {
  Fiber* const before = std::exchange(current_, &fiber);
  announce_switch(&fiber.caller_kept, fiber.own);
  fiber.inside = std::move(fiber.inside).resume();
  announce_arrival(fiber.caller_kept, nullptr);
  current_ = before;
}

void Fibers::leave(Fiber& fiber, bool last) {
  announce_switch(last ? nullptr : &fiber.own_kept, fiber.caller);
  if (last) return;
  fiber.outside = std::move(fiber.outside).resume();
  announce_arrival(fiber.own_kept, &fiber.caller);
}

void Fibers::work(Fiber& fiber) {
  announce_arrival(nullptr, &fiber.caller);
  while (fiber.busy) {
    try {
      task_();
    } catch (const Abandoned&) {
    } catch (...) {
      fiber.error = std::current_exception();
    }
    fiber.busy = false;
    leave(fiber, false);
  }
  leave(fiber, true);
}

std::unique_ptr<Fibers::Fiber> Fibers::make_fiber(unsigned slot) {
  auto fiber = std::make_unique<Fiber>();
  boost::context::protected_fixedsize_stack allocator(kStackBytes);
  const auto stack = allocator.allocate();
  // Stacks that all begin at the same distance from a page would fight for the same lines of the caches.
  const size_t shift = slot % 64 * 1088;
  fiber->own = {static_cast<char*>(stack.sp) - stack.size, stack.size};
  const auto run = [this, fiber = fiber.get()](boost::context::fiber&& caller) {
    fiber->outside = std::move(caller);
    work(*fiber);
    return std::move(fiber->outside);
  };
  fiber->inside = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(static_cast<char*>(stack.sp) - shift, stack.size - shift, stack),
      allocator, run);
  return fiber;
}

bool Fibers::start(unsigned slot) {
  if (slot >= fibers_.size()) fibers_.resize(slot + 1);
  if (!fibers_[slot]) fibers_[slot] = make_fiber(slot);
  fibers_[slot]->busy = true;
  return resume(slot);
}

bool Fibers::resume(unsigned slot) {
  Fiber& fiber = *fibers_[slot];
  enter(fiber);
  if (fiber.error) std::rethrow_exception(std::exchange(fiber.error, nullptr));
  return !fiber.busy;
}

void Fibers::suspend() {
  leave(*current_, false);
  if (abandoning_) throw Abandoned{};
}

void Fibers::abandon() {
  abandoning_ = true;
  for (auto& fiber : fibers_)
    if (fiber && fiber->busy) {
      enter(*fiber);
      fiber->error = nullptr;
    }
  abandoning_ = false;
}

}  // namespace retrace::cuda
