#include <algorithm>
#include <compare>

#include "retrace/device/cpu/threads.h"
#include "retrace/ops/sort/sort_kernel.h"
#include "retrace/ops/sort/sort_key.h"

namespace retrace {
namespace {

constexpr int64_t kPieceElements = 1 << 12;
constexpr int64_t kMostPieces = 64;  // each has room for one line

// A key of 32 bits with its index in one number.
struct NarrowEntry {
  NarrowEntry(uint32_t key, uint32_t index) : both(uint64_t{key} << 32 | index) {}
  bool operator<(const NarrowEntry& other) const { return both < other.both; }
  int32_t index() const { return static_cast<int32_t>(both & 0xffffffffu); }
  uint64_t both;
};

struct WideEntry {
  WideEntry(uint64_t key, uint32_t number) : key(key), number(number) {}
  bool operator<(const WideEntry& other) const { return key != other.key ? key < other.key : number < other.number; }
  int32_t index() const { return static_cast<int32_t>(number); }
  uint64_t key;
  uint32_t number;
};

int64_t pieces_of(int64_t lines, int64_t size) {
  return std::clamp<int64_t>(lines * size / kPieceElements, 1, std::clamp<int64_t>(lines, 1, kMostPieces));
}

constexpr int64_t kFew = 32;

// Of a few entries: each later one that comes before the last of them takes its place among them, which is rare.
template <class Entry>
void sort_few(Entry* entries, int64_t size, int64_t count) {
  std::sort(entries, entries + count);
  Entry* const last = entries + count - 1;
  for (int64_t i = count; i < size; ++i) {
    const Entry entry = entries[i];
    if (!(entry < *last)) continue;
    Entry* at = last;
    for (; at > entries && entry < at[-1]; --at) *at = at[-1];
    *at = entry;
  }
}

// The first `count` entries, 1 at least, are in order afterwards.
template <class Entry>
void sort_entries(Entry* entries, int64_t size, int64_t count) {
  if (count <= kFew && count < size) return sort_few(entries, size, count);
  if (count < size) std::nth_element(entries, entries + count, entries + size);
  std::sort(entries, entries + count);
}

template <class Entry, class Bits, class Key>
void sort_lines(const KernelCall& call, Key key) {
  const Shape& shape = call.inputs[0].spec->shape;
  const auto axis = static_cast<int>(call.attributes.integer("axis"));
  const int64_t size = shape[axis], step = shape.count(axis + 1, shape.rank()), lines = shape.count(0, axis) * step;
  const int64_t count = call.attributes.integer("count"), pieces = pieces_of(lines, size);
  const SortOrder order{call.attributes.integer("descending") != 0, call.attributes.integer("nan_first") != 0};
  const auto* const x = static_cast<const Bits*>(call.inputs[0].data);
  auto* const indices = static_cast<int32_t*>(call.outputs[0].data);
  if (count == 0 || lines == 0) return;
  run_pieces(pieces, [&](int64_t piece) {
    Entry* const entries = static_cast<Entry*>(call.workspace) + piece * size;
    for (int64_t line = lines * piece / pieces; line < lines * (piece + 1) / pieces; ++line) {
      const Bits* const from = x + line / step * size * step + line % step;
      for (int64_t i = 0; i < size; ++i) entries[i] = Entry(key(from[i * step], order), static_cast<uint32_t>(i));
      sort_entries(entries, size, count);
      int32_t* const to = indices + line / step * count * step + line % step;
      for (int64_t i = 0; i < count; ++i) to[i * step] = entries[i].index();
    }
  });
}

}  // namespace

void run_argsort(const KernelCall& call) {
  switch (call.inputs[0].spec->type) {
    case DType::f64:
      return sort_lines<WideEntry, uint64_t>(
          call, [](uint64_t bits, SortOrder order) { return float_key(bits, uint64_t{0x7ff0000000000000}, order); });
    case DType::i32:
      return sort_lines<NarrowEntry, uint32_t>(call,
                                               [](auto bits, auto order) { return sort_key(int(), bits, order); });
    case DType::u8:
    case DType::boolean:
      return sort_lines<NarrowEntry, uint8_t>(call,
                                              [](auto bits, auto order) { return sort_key(uint8_t(), bits, order); });
    case DType::f32:
    case DType::bf16:
    case DType::f16:
    case DType::i64: break;
  }
  sort_lines<NarrowEntry, uint32_t>(call, [](auto bits, auto order) { return sort_key(float(), bits, order); });
}

int64_t argsort_workspace(const InferCall& call) {
  const TensorSpec& x = call.inputs[0];
  const int64_t size = x.shape[static_cast<int>(call.attributes.integer("axis"))];
  if (size == 0 || x.count() == 0) return 0;
  const size_t entry = x.type == DType::f64 ? sizeof(WideEntry) : sizeof(NarrowEntry);
  return pieces_of(x.count() / size, size) * size * static_cast<int64_t>(entry);
}

}  // namespace retrace
