#pragma once
// Cuts the workspace of a kernel into aligned parts.

#include <cstdint>

namespace retrace {

// Hands out aligned parts of a workspace; without memory it only counts.
class Workspace {
 public:
  explicit Workspace(void* memory) : memory_(static_cast<char*>(memory)) {}
  template <class T>
  T* take(int64_t count) {
    T* part = memory_ ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    used_ += (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return part;
  }
  bool real() const { return memory_ != nullptr; }
  int64_t bytes() const { return used_; }

 private:
  char* memory_;
  int64_t used_ = 0;
};

}  // namespace retrace
