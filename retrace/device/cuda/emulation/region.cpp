#include "retrace/device/cuda/emulation/region.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "retrace/base/error.h"

namespace retrace::cuda::emulation {
namespace {

constexpr size_t kPage = 4096;
constexpr std::byte kGuard{0xA5};

size_t size_with_guard(size_t bytes) {
  return (bytes + Region::kUnit - 1) / Region::kUnit * Region::kUnit + Region::kUnit;
}

}  // namespace

Pages::Pages(size_t bytes) : bytes_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory);
}
Pages::~Pages() {
  if (data_) munmap(data_, bytes_);
}
Pages::Pages(Pages&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
void Pages::forget(size_t begin, size_t bytes) {
  const size_t first = (begin + kPage - 1) / kPage * kPage, last = (begin + bytes) / kPage * kPage;
  if (first < last) madvise(data_ + first, last - first, MADV_DONTNEED);
}

Region::Region(size_t capacity)
    : memory_(capacity), owners_(capacity / kUnit * sizeof(uint32_t)), free_{{0, capacity}}, free_bytes_(capacity) {}

// The first free place at or behind next_ that is long enough; then from the start.
size_t Region::take(size_t bytes) {
  for (const size_t from : {next_, size_t{0}}) {
    auto range = free_.upper_bound(from);
    if (range != free_.begin()) --range;  // may hold `from`
    for (; range != free_.end(); ++range) {
      const auto [begin, length] = *range;
      const size_t place = std::max(begin, from), end = begin + length;
      if (place + bytes > end) continue;
      free_.erase(range);
      if (begin < place) free_[begin] = place - begin;
      if (place + bytes < end) free_[place + bytes] = end - place - bytes;
      free_bytes_ -= bytes;
      next_ = place + bytes;
      return place;
    }
  }
  throw Error(ErrorKind::unavailable, 690, "the emulated device's memory is exhausted")
      .got(fmt::format("{} bytes asked for, {} of {} free", bytes, free_bytes_, capacity()));
}

void* Region::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  const size_t whole = size_with_guard(std::min(bytes, capacity())), begin = take(whole);
  buffers_.push_back({begin, bytes, true});
  std::fill_n(owners() + begin / kUnit, whole / kUnit, static_cast<uint32_t>(buffers_.size()));
  std::byte* const memory = memory_.data() + begin;
  std::memset(memory, 0xFF, bytes);
  std::fill_n(memory + bytes, whole - bytes, kGuard);
  return memory;
}

void Region::release(void* memory) {
  if (!memory) return;
  const size_t at = offset(memory);
  const Buffer* const found = find(at);
  if (!found || !found->live || found->begin != at)
    throw Error(ErrorKind::internal, 980, "memory is released that is no buffer of the emulated device")
        .got(describe(memory));
  Buffer& buffer = buffers_[static_cast<size_t>(found - buffers_.data())];
  const std::byte* const guard = memory_.data() + at + buffer.bytes;
  const std::byte* const end = memory_.data() + at + size_with_guard(buffer.bytes);
  const auto* const changed = std::find_if(guard, end, [](std::byte b) { return b != kGuard; });
  buffer.live = false;
  const auto where = describe(changed);
  give_back(at, size_with_guard(buffer.bytes));
  if (changed != end)
    throw Error(ErrorKind::internal, 981, "a kernel has written behind the end of a buffer").got(where);
}

void Region::give_back(size_t begin, size_t bytes) {
  memory_.forget(begin, bytes);
  free_bytes_ += bytes;
  auto here = free_.emplace(begin, bytes).first;
  if (const auto after = std::next(here); after != free_.end() && begin + bytes == after->first) {
    here->second += after->second;
    free_.erase(after);
  }
  if (here == free_.begin()) return;
  const auto before = std::prev(here);
  if (before->first + before->second != begin) return;
  before->second += here->second;
  free_.erase(here);
}

std::string Region::describe(const void* memory) const {
  const size_t at = offset(memory);
  const Buffer* const buffer = find(at);
  if (!buffer) return memory ? "an address outside of every buffer" : "a null address";
  return fmt::format("offset {} of buffer {} ({} bytes{})", at - buffer->begin, buffer - buffers_.data() + 1,
                     buffer->bytes, buffer->live ? "" : ", released");
}

}  // namespace retrace::cuda::emulation
