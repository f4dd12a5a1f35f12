#include "retrace/plan/programs/tile_load.h"

#include <algorithm>

#include "retrace/plan/programs/tile_bytes.h"
#include "retrace/plan/tuning.h"
#include "retrace/tensor/number.h"

namespace retrace {
namespace {

void copy_row(const float* from, float* to, int64_t count) { std::copy_n(from, count, to); }
void copy_row(const uint8_t* from, float* to, int64_t count) { bytes_to_numbers_table.get()(from, to, count); }
void copy_row(const BFloat16* from, float* to, int64_t count) {
  bf16_to_numbers_table.get()(reinterpret_cast<const uint16_t*>(from), to, count);
}
void copy_row(const Float16* from, float* to, int64_t count) {
  f16_to_numbers_table.get()(reinterpret_cast<const uint16_t*>(from), to, count);
}

template <class T>
void gather(const T* from, float* to, int64_t count, int64_t stride) {
  if (stride == 0)
    fill_table.get()(static_cast<float>(number(*from)), to, count);
  else if (stride == 1)
    copy_row(from, to, count);
  else
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(number(from[i * stride]));
}

// `rows` rows of `run` equal elements, whose values lie `stride` apart. Of `room` elements at `to`, those behind the
// rows may be written, too: what belongs there comes later.
void fill_rows(const float* from, int64_t stride, int64_t rows, int64_t run, float* to, int64_t room) {
  fill_rows_table.get()(from, stride, rows, run, to, room);
}
template <class T>
void fill_rows(const T* from, int64_t stride, int64_t rows, int64_t run, float* to, int64_t) {
  for (; rows > 0; --rows, from += stride, to += run) fill_table.get()(static_cast<float>(number(*from)), to, run);
}

// Elements of a broadcast, in their order, from any place on.
template <class T>
class StridedWalk {
 public:
  StridedWalk(const Shape& shape, const Shape& strides, const T* from, int64_t begin)
      : shape_(shape), strides_(strides), index_(shape), from_(from), last_(shape.rank() - 1) {
    for (int i = last_; i >= 0; --i) {
      index_[i] = begin % shape[i];
      begin /= shape[i];
      offset_ += index_[i] * strides[i];
    }
  }

  // Writes at most `count` elements: whole rows along the last axis, or the rest of one. Returns their number.
  int64_t write(float* to, int64_t count) {
    const int64_t row = shape_[last_];
    const bool whole = last_ > 0 && index_[last_] == 0 && count >= row;
    const int axis = whole ? last_ - 1 : last_;
    const int64_t steps = std::min(whole ? count / row : count, shape_[axis] - index_[axis]);
    if (!whole)
      gather(from_ + offset_, to, steps, strides_[last_]);
    else if (strides_[last_] == 0)
      fill_rows(from_ + offset_, strides_[axis], steps, row, to, count);
    else
      for (int64_t i = 0; i < steps; ++i)
        gather(from_ + offset_ + i * strides_[axis], to + i * row, row, strides_[last_]);
    advance(axis, steps);
    return whole ? steps * row : steps;
  }

 private:
  void advance(int axis, int64_t steps) {
    offset_ += steps * strides_[axis];
    index_[axis] += steps;
    for (int i = axis; i > 0 && index_[i] == shape_[i]; --i) {
      offset_ += strides_[i - 1] - strides_[i] * shape_[i];
      index_[i] = 0;
      ++index_[i - 1];
    }
    // After the last row it starts again: patterns are longer than the broadcast.
    if (index_[0] == shape_[0]) index_[0] = 0, offset_ = 0;
  }

  const Shape &shape_, &strides_;
  Shape index_;
  const T* from_;
  int last_;
  int64_t offset_ = 0;
};

// The axis along which the elements behind it repeat: short ones, often enough. -1: there is none.
int repeated_axis(const Shape& shape, const Shape& strides) {
  for (int axis = shape.rank() - 2; axis > 0; --axis) {
    if (shape.count(axis + 1, shape.rank()) > tuning::kRepeatedElements) return -1;
    if (strides[axis] == 0 && shape[axis] >= tuning::kFewestRepeats) return axis;
  }
  return -1;
}

// `count` elements at `to`, of which the first `period` are there.
void repeat(float* to, int64_t period, int64_t count) {
  for (int64_t there = period; there < count; there *= 2) std::copy_n(to, std::min(there, count - there), to + there);
}

template <class T>
void load_strided(const Shape& shape, const Shape& strides, const T* from, float* to, int64_t begin, int64_t count) {
  if (shape.rank() == 0) return gather(from, to, count, 0);
  StridedWalk<T> walk(shape, strides, from, begin);
  for (int64_t done = 0; done < count;) done += walk.write(to + done, count - done);
}

// Rows of `run` equal elements, which are long.
template <class T>
void load_rows(int64_t run, const T* from, float* to, int64_t begin, int64_t count) {
  from += begin / run;
  const auto fill = fill_table.get();
  if (const int64_t inside = begin % run; inside > 0) {
    const int64_t here = std::min(count, run - inside);
    fill(static_cast<float>(number(*from++)), to, here);
    to += here, count -= here;
  }
  const int64_t rows = count / run, rest = count % run;
  if (rows > 0) fill_rows(from, 1, rows, run, to, count);
  if (rest > 0) fill(static_cast<float>(number(from[rows])), to + rows * run, rest);
}

// The same where the `inner` elements of the axes behind another repeat along it, which makes `outer` of them.
template <class T>
void load_repeated(const Shape& shape, const Shape& strides, int64_t inner, int64_t outer, const T* from, float* to,
                   int64_t begin, int64_t count) {
  for (int64_t done = 0; done < count;) {
    const int64_t at = begin + done, here = std::min(count - done, outer - at % outer);
    load_strided(shape, strides, from, to + done, at, std::min(here, inner));
    repeat(to + done, inner, here);
    done += here;
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
  if (shape_.rank() == 2 && strides_[0] == 1 && strides_[1] == 0) equal_run_ = shape_[1];
  if (equal_run_ >= tuning::kFewestEqual) run_ = equal_run_;
  const int axis = repeated_axis(shape_, strides_);
  if (axis < 0) return;
  inner_ = shape_.count(axis + 1, shape_.rank());
  outer_ = inner_ * shape_[axis];
}

void BroadcastLoad::load(const void* from, float* to, int64_t begin, int64_t count) const {
  const auto load_from = [&](const auto* elements) {
    if (run_ > 0 && begin + count <= run_ * shape_[0])
      load_rows(run_, elements, to, begin, count);
    else if (inner_ > 0 && count > inner_)
      load_repeated(shape_, strides_, inner_, outer_, elements, to, begin, count);
    else
      load_strided(shape_, strides_, elements, to, begin, count);
  };
  if (type_ == DType::f32) return load_from(static_cast<const float*>(from));
  if (type_ == DType::bf16) return load_from(static_cast<const BFloat16*>(from));
  if (type_ == DType::f16) return load_from(static_cast<const Float16*>(from));
  load_from(static_cast<const uint8_t*>(from));
}

const float* BroadcastLoad::in_row(const void* from, int64_t begin, int64_t count) const {
  const int last = shape_.rank() - 1;
  if (type_ != DType::f32 || last < 0 || strides_[last] != 1 || shape_[last] < count) return nullptr;
  int64_t left = begin / shape_[last], offset = begin % shape_[last];
  if (offset + count > shape_[last]) return nullptr;
  for (int i = last - 1; i >= 0; --i) {
    offset += left % shape_[i] * strides_[i];
    left /= shape_[i];
  }
  return static_cast<const float*>(from) + offset;
}

int64_t BroadcastLoad::content(int64_t begin, int64_t count) const {
  if (inner_ == 0 || begin % outer_ + count > outer_) return -1;
  return begin / outer_ * inner_ + begin % inner_;
}

int64_t BroadcastLoad::period() const {
  if (shape_.rank() == 0) return 1;
  if (strides_[0] != 0) return 0;
  return shape_.rank() == 1 ? 1 : shape_.count(1, shape_.rank());
}

}  // namespace retrace
