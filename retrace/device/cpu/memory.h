#pragma once
// Bytes of the host for tensors and intermediates.

#include <cstddef>

namespace retrace {

// At least `bytes` bytes at alignment 64, uninitialised. Large blocks lie on huge pages where the system gives them
// when asked: arrays of tens of megabytes meet an address translation per 4 KiB otherwise. Throws std::bad_alloc.
void* take_memory(size_t bytes);

// Gives back what take_memory returned; null is fine.
void give_memory(void* data);

}  // namespace retrace
