#pragma once
// Memory for the small objects that every call makes and drops again: handles of tensors, branches of trees. Freed
// blocks are kept for the next request of their size, so that a loop that goes round once need not ask the heap again.

#include <cstddef>
#include <new>

namespace retrace {

// Uninitialised; sizes over 4 KiB come from the heap. Any thread may give a block back. Sanitizer builds use the heap,
// so that they see an object that is used after its end.
void* take_block(size_t bytes);

// Gives back a block that take_block() returned for that size.
void give_block(void* block, size_t bytes) noexcept;

// The standard allocator over those two.
template <class T>
struct Recycled {
  using value_type = T;
  Recycled() = default;
  template <class U>
  Recycled(const Recycled<U>&) {}
  T* allocate(size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(take_block(count * sizeof(T)));
  }
  void deallocate(T* objects, size_t count) noexcept { give_block(objects, count * sizeof(T)); }
  template <class U>
  bool operator==(const Recycled<U>&) const {
    return true;
  }
};

}  // namespace retrace
