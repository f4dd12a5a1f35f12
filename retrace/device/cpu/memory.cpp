#include "retrace/device/cpu/memory.h"

#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace retrace {
namespace {
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;

size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }
}  // namespace

void* take_memory(size_t bytes) {
  const size_t whole = rounded(bytes, kHugePage);
  const bool large = bytes >= 2 * kHugePage;
  // The rest of its last huge page is small beside it.
  const bool fills = !large && bytes > 0 && whole - bytes <= bytes / 16;
  // Where arrays begin a page, no load has the last 12 bits of the address of a store that has just gone before it, for
  // which it would wait.
  const size_t alignment = large || fills ? kHugePage : bytes >= 16 * kPage ? kPage : 64;
  void* data = std::aligned_alloc(alignment, rounded(bytes == 0 ? 1 : bytes, alignment));
  if (!data) throw std::bad_alloc();
#ifdef __linux__
  if (large || fills) madvise(data, fills ? whole : bytes, MADV_HUGEPAGE);  // advice: memory is as good without
#endif
  return data;
}

void give_memory(void* data) { std::free(data); }

}  // namespace retrace
