#include <algorithm>
#include <compare>
#include <type_traits>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/sort/sort_kernel.h"
#include "retrace/ops/sort/sort_key.h"

namespace retrace {

// Of numbers x[at], x[at + 1], ... the index of the first that is not known to come after `last`: it is above it (in
// descending order; below it in the other), or one of the two is NaN. `size` if all come after it.
extern const KernelTable<int64_t (*)(const float* x, int64_t at, int64_t size, float last, bool descending)>
    pass_over_table;

namespace {

struct FloatKey {
  uint32_t operator()(uint32_t bits, SortOrder order) const { return sort_key(float(), bits, order); }
};

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
constexpr int64_t kLongLine = 256;  // elements from which calls for what comes next take less than looking at each

// The elements of a line, as entries and by what may be passed over.
template <class Entry, class Bits, class Key>
struct Line {
  const Bits* from;
  int64_t size, step;
  SortOrder order;
  Key key;

  Entry entry(int64_t i) const { return Entry(key(from[i * step], order), static_cast<uint32_t>(i)); }
  // The first element from `at` on that may come before element `last`: of neighbouring f32 many are compared at once.
  int64_t next(int64_t at, int32_t last) const {
    if constexpr (std::is_same_v<Key, FloatKey>)
      if (step == 1 && size >= kLongLine) {
        const auto* const x = reinterpret_cast<const float*>(from);
        return pass_over_table.get()(x, at, size, x[last], order.descending);
      }
    return at;
  }
};

// The first `count` entries of the line, a few: each later element that comes before the last of them takes its place
// among them, which is rare.
template <class Entry, class AnyLine>
void sort_few(const AnyLine& line, int64_t count, Entry* entries) {
  for (int64_t i = 0; i < count; ++i) entries[i] = line.entry(i);
  std::sort(entries, entries + count);
  Entry* const last = entries + count - 1;
  for (int64_t i = line.next(count, last->index()); i < line.size; i = line.next(i + 1, last->index())) {
    const Entry entry = line.entry(i);
    if (!(entry < *last)) continue;
    Entry* at = last;
    for (; at > entries && entry < at[-1]; --at) *at = at[-1];
    *at = entry;
  }
}

// The first `count` entries of the line, 1 at least, in order.
template <class Entry, class AnyLine>
void sort_line(const AnyLine& line, int64_t count, Entry* entries) {
  if (count <= kFew && count < line.size) return sort_few(line, count, entries);
  for (int64_t i = 0; i < line.size; ++i) entries[i] = line.entry(i);
  if (count < line.size) std::nth_element(entries, entries + count, entries + line.size);
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
      sort_line(Line<Entry, Bits, Key>{from, size, step, order, key}, count, entries);
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
  sort_lines<NarrowEntry, uint32_t>(call, FloatKey());
}

int64_t argsort_workspace(const InferCall& call) {
  const TensorSpec& x = call.inputs[0];
  const int64_t size = x.shape[static_cast<int>(call.attributes.integer("axis"))];
  if (size == 0 || x.count() == 0) return 0;
  const size_t entry = x.type == DType::f64 ? sizeof(WideEntry) : sizeof(NarrowEntry);
  return pieces_of(x.count() / size, size) * size * static_cast<int64_t>(entry);
}

}  // namespace retrace
