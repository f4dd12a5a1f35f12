#pragma once
// Whether this thread is inside a function that is being recorded as a whole (made by value_and_grad or accelerate).
// Inside, a value that is read is computed, but the recorded nodes stay: the gradient still needs them.

namespace retrace {

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
