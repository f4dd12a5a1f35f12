#pragma once
// A pointer for classes whose members are not for users.

#include <utility>

namespace retrace {

// Owns an object of a class that is declared here and defined in a source file: std::unique_ptr, without its headers'
// cost to those who include ours. The class that holds it defines its constructors and its destructor in that source
// file.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { delete object_; }

  explicit operator bool() const { return object_ != nullptr; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace retrace
