#pragma once
// Whether this thread is inside a function that is being recorded as a whole (made by value_and_grad or accelerate).
// Inside, a value that is read is computed, but the recorded nodes stay: the gradient still needs them.

#include "retrace/base/place.h"

namespace retrace {

// Counts the calls that this thread has open, of functions that are recorded as a whole: one that calls itself without
// end is an Error(usage), not a stack overflow.
class OpenCall {
 public:
  explicit OpenCall(Place made) {
    if (count() >= kMost) refuse(made);
    ++count();
  }
  ~OpenCall() { --count(); }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

 private:
  static constexpr int kMost = 256;
  [[noreturn]] static void refuse(Place made);
  static int& count() {
    thread_local int value = 0;
    return value;
  }
};

class CallScope {
 public:
  CallScope() : outermost_(depth()++ == 0) {}
  ~CallScope() { --depth(); }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  bool outermost() const { return outermost_; }
  static bool active() { return depth() > 0; }

 private:
  static int& depth() {
    thread_local int value = 0;
    return value;
  }
  bool outermost_;
};

}  // namespace retrace
