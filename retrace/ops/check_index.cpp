#include "retrace/ops/check_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/cast/cast.h"

namespace retrace {

extern const KernelTable<uint32_t (*)(const uint32_t*, int64_t)> largest_index_table;

namespace {

// "[3,0]": where element i of a tensor stands.
std::string index_text(const Shape& shape, int64_t i) {
  Shape index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = i % shape[axis];
    i /= shape[axis];
  }
  return index.text();
}

uint32_t largest(const int32_t* values, int64_t count) {
  return largest_index_table.get()(reinterpret_cast<const uint32_t*>(values), count);
}
uint32_t largest(const uint8_t* values, int64_t count) {
  return count == 0 ? 0 : *std::max_element(values, values + count);
}

template <class T>
bool exist(const T* values, int64_t count, int64_t limit) {
  const auto end = static_cast<uint32_t>(std::min<int64_t>(limit, int64_t{1} << 31));  // negative ones are above it
  return count == 0 || largest(values, count) < end;
}

template <class T>
bool all_exist(const T* values, int64_t count, int64_t limit) {
  constexpr int64_t kPiece = 1 << 15;
  std::atomic<bool> outside = false;
  run_pieces((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t begin = piece * kPiece;
    if (!exist(values + begin, std::min(count - begin, kPiece), limit)) outside.store(true, std::memory_order_relaxed);
  });
  return !outside.load(std::memory_order_relaxed);
}

bool all_exist(const KernelInput& indices, int64_t limit) {
  const int64_t count = indices.spec->count();
  if (indices.spec->type == DType::i32) return all_exist(static_cast<const int32_t*>(indices.data), count, limit);
  return all_exist(static_cast<const uint8_t*>(indices.data), count, limit);
}

}  // namespace

bool indices_exist(const int32_t* indices, int64_t count, int64_t limit) { return exist(indices, count, limit); }

int64_t read_index(const KernelInput& indices, int64_t i) {
  if (indices.spec->type == DType::i32) return static_cast<const int32_t*>(indices.data)[i];
  return static_cast<const uint8_t*>(indices.data)[i];
}

void check_indices(const IndexNames& names, const KernelInput& indices, int64_t limit) {
  if (all_exist(indices, limit)) return;
  const int64_t count = indices.spec->count();
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t value = read_index(indices, i); value < 0 || value >= limit)
      throw index_error(names, *indices.spec, limit, i, value);
}

Tensor as_index(const Tensor& indices, Place place) {
  return indices.type(place) == DType::i32 ? indices : cast(indices, DType::i32, place);
}

Error index_error(const IndexNames& names, const TensorSpec& indices, int64_t limit, int64_t position, int64_t value) {
  const std::string place = index_text(indices.shape, position);
  return Error(ErrorKind::usage, 177, fmt::format("{}: {} {} at {} does not exist", names.op, names.what, value, place))
      .got(indices.text())
      .expected(limit == 0 ? std::string("no values at all") : fmt::format("values from 0 to {}", limit - 1))
      .help(std::string(names.help));
}

Labels with_new_axes(const Labels& labels, int count) {
  Labels result = labels;
  if (labels.empty()) return result;
  for (int i = 0; i < count; ++i) result.push_back(result.find('C') < 0 && result.find('U') < 0 ? 'C' : 'U');
  return result;
}

}  // namespace retrace
