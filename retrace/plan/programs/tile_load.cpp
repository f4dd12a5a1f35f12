#include "retrace/plan/programs/tile_load.h"

#include <algorithm>

#include "retrace/plan/programs/tile_bytes.h"

namespace retrace {
namespace {

void copy_row(const float* from, float* to, int64_t count) { std::copy_n(from, count, to); }
void copy_row(const uint8_t* from, float* to, int64_t count) { bytes_to_numbers_table.get()(from, to, count); }

void fill(float value, float* to, int64_t count) {
  if (count < 16)
    std::fill_n(to, count, value);
  else
    fill_table.get()(value, to, count);
}

template <class T>
void gather(const T* from, float* to, int64_t count, int64_t stride) {
  if (stride == 0)
    fill(static_cast<float>(*from), to, count);
  else if (stride == 1)
    copy_row(from, to, count);
  else
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i * stride]);
}

// Rows along the last merged axis, the others counted up.
template <class T>
void load_strided(const Shape& shape, const Shape& strides, const T* from, float* to, int64_t begin, int64_t count) {
  if (shape.rank() == 0) return gather(from, to, count, 0);
  Shape index = shape;
  int64_t rest = begin, offset = 0;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    index[i] = rest % shape[i];
    rest /= shape[i];
    offset += index[i] * strides[i];
  }
  const int last = shape.rank() - 1;
  while (count > 0) {
    const int64_t row = std::min(count, shape[last] - index[last]);
    gather(from + offset, to, row, strides[last]);
    to += row;
    count -= row;
    offset += row * strides[last];
    index[last] += row;
    for (int i = last; i > 0 && index[i] == shape[i]; --i) {
      offset += strides[i - 1] - strides[i] * shape[i];
      index[i] = 0;
      ++index[i - 1];
    }
    // After the last row it starts again: patterns are longer than the broadcast.
    if (index[0] == shape[0]) index[0] = 0, offset = 0;
  }
}

}  // namespace

BroadcastLoad::BroadcastLoad(DType type, const Shape& from, const Shape& to) : type_(type) {
  const Shape own = row_major_strides(from);
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] == 1) continue;
    const int axis = i - (to.rank() - from.rank());
    const int64_t stride = axis < 0 || from[axis] == 1 ? 0 : own[axis];
    const int last = shape_.rank() - 1;
    if (last >= 0 && strides_[last] == stride * to[i]) {
      shape_[last] *= to[i];
      strides_[last] = stride;
    } else {
      shape_.push_back(to[i]);
      strides_.push_back(stride);
    }
  }
}

void BroadcastLoad::load(const void* from, float* to, int64_t begin, int64_t count) const {
  if (type_ == DType::f32)
    load_strided(shape_, strides_, static_cast<const float*>(from), to, begin, count);
  else
    load_strided(shape_, strides_, static_cast<const uint8_t*>(from), to, begin, count);
}

int64_t BroadcastLoad::period() const {
  if (shape_.rank() == 0) return 1;
  if (strides_[0] != 0) return 0;
  return shape_.rank() == 1 ? 1 : shape_.count(1, shape_.rank());
}

}  // namespace retrace
