#include "retrace/plan/programs/part_program.h"

#include <algorithm>
#include <cstring>

#include "retrace/base/copy_bytes.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/plan/tuning.h"

namespace retrace {
namespace {

Shape zeros_like(const Shape& shape) {
  Shape zeros = shape;
  std::fill(&zeros[0], &zeros[0] + zeros.rank(), 0);
  return zeros;
}

}  // namespace

const Op& parts_op() {
  static const Op op{.name = "parts", .inputs = -1, .infer = infer_by_body};
  return op;
}

PartProgram::PartProgram(const Trace& body)
    : shape_(body.spec(body.outputs[0]).shape), item_(size_of(body.spec(body.outputs[0]).type)) {
  collect(body, body.outputs[0]);
  merge_axes();
  common_begin_ = zeros_like(shape_), common_end_ = shape_;
  for (const Part& part : parts_)
    for (int i = 0; i < shape_.rank(); ++i) {
      common_begin_[i] = std::max(common_begin_[i], part.to[i]);
      common_end_[i] = std::min(common_end_[i], part.to[i] + part.size[i]);
    }
  while (axis_ + 1 < shape_.rank() && shape_[axis_] == 1) ++axis_;
}

void PartProgram::collect(const Trace& body, ValueId id) {
  const Node* const node = body.producer(id);
  if (node && node->op->formula == Formula::addition) {
    sum_ = node->op->rule->tile.get();
    collect(body, node->inputs[0]);
    add_part(body, node->inputs[1], zeros_like(shape_));
  } else if (node && node->op->joins) {
    joins_ = true;
    Shape to = zeros_like(shape_);
    const int axis = static_cast<int>(node->attributes.integer("axis"));
    for (ValueId part : node->inputs) {
      add_part(body, part, to);
      to[axis] += body.spec(part).shape[axis];
    }
  } else {
    add_part(body, id, zeros_like(shape_));
  }
}

// From the result to the input: views, what is put into zeros, what is cut out.
void PartProgram::add_part(const Trace& body, ValueId id, Shape to) {
  Shape from = zeros_like(to), size = body.spec(id).shape;
  for (const Node* node = body.producer(id); node; node = body.producer(id)) {
    const Shape* const begin = node->op->view ? nullptr : &node->attributes.list("begin");
    if (begin) {
      Shape& moved = node->op->puts ? to : from;
      for (int i = 0; i < begin->rank(); ++i) moved[i] += (*begin)[i];
    }
    id = node->inputs[0];
    if (node->op->puts) size = body.spec(id).shape;
  }
  const auto input = static_cast<size_t>(std::find(body.inputs.begin(), body.inputs.end(), id) - body.inputs.begin());
  parts_.push_back({input, from, to, size, body.spec(id).shape});
}

bool PartProgram::is_whole(int axis) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.size[axis] == shape_[axis] && part.source[axis] == shape_[axis];
  });
}

// An axis that all parts have whole joins the axis before it.
void PartProgram::merge_axes() {
  for (int axis = shape_.rank() - 1; axis > 0; --axis) {
    if (!is_whole(axis)) continue;
    const int64_t by = shape_[axis];
    const auto merge = [&](Shape& list, bool size) {
      Shape merged;
      for (int i = 0; i < list.rank(); ++i)
        if (i != axis) merged.push_back(i == axis - 1 ? list[i] * (size ? list[axis] : by) : list[i]);
      list = merged;
    };
    merge(shape_, true);
    for (Part& part : parts_)
      merge(part.from, false), merge(part.to, false), merge(part.size, true), merge(part.source, true);
  }
}

void PartProgram::run(const void* const* inputs, void* output) const {
  const int64_t elements = shape_.count();
  if (elements == 0) return;
  if (shape_.rank() == 0) return run_rows(0, 1, inputs, static_cast<char*>(output));
  const int64_t rows = shape_[axis_], row = elements / rows;
  const int64_t step = std::max<int64_t>(1, tuning::kPartElements / row);
  run_pieces((rows + step - 1) / step, [&](int64_t piece) {
    run_rows(piece * step, std::min(rows, (piece + 1) * step), inputs, static_cast<char*>(output));
  });
}

// What of a part lies in rows begin..end-1; a size of 0 or less: nothing.
PartProgram::Part PartProgram::within(const Part& part, int64_t begin, int64_t end) const {
  Part inside = part;
  if (shape_.rank() == 0) return inside;
  const int64_t first = std::max(begin, part.to[axis_]), last = std::min(end, part.to[axis_] + part.size[axis_]);
  inside.from[axis_] += first - part.to[axis_];
  inside.to[axis_] = first;
  inside.size[axis_] = last - first;
  return inside;
}

void PartProgram::run_rows(int64_t begin, int64_t end, const void* const* inputs, char* to) const {
  if (!joins_) fill(begin, end, to);
  for (const Part& part : parts_) {
    const Part inside = within(part, begin, end);
    if (std::any_of(inside.size.begin(), inside.size.end(), [](int64_t n) { return n <= 0; })) continue;
    write(inside, static_cast<const char*>(inputs[part.input]), to);
  }
}

// Zeros. A sum begins with -0 where all its terms are, which changes none of them, and else with the +0 of a term that
// is not there.
void PartProgram::fill(int64_t begin, int64_t end, char* to) const {
  const int64_t rows = shape_.rank() == 0 ? 1 : shape_[axis_], row = shape_.count() / rows;
  std::memset(to + static_cast<size_t>(begin * row) * item_, 0, static_cast<size_t>((end - begin) * row) * item_);
  if (!sum_) return;
  Shape size = common_end_;
  for (int i = 0; i < size.rank(); ++i) size[i] -= common_begin_[i];
  const Part common = within({0, common_begin_, common_begin_, size, shape_}, begin, end);
  if (std::any_of(common.size.begin(), common.size.end(), [](int64_t n) { return n <= 0; })) return;
  write(common, nullptr, to);
}

// Copies or adds the part; where there is nothing to read, it writes -0.
void PartProgram::write(const Part& part, const char* from, char* to) const {
  const int rank = shape_.rank(), last = rank - 1;
  const Shape to_strides = row_major_strides(shape_), from_strides = row_major_strides(part.source);
  const int64_t count = rank == 0 ? 1 : part.size[last];
  const auto run = [&](int64_t read, int64_t write) {
    char* const at = to + static_cast<size_t>(write) * item_;
    if (!from) return std::fill_n(reinterpret_cast<float*>(at), count, -0.0f), void();
    const char* const source = from + static_cast<size_t>(read) * item_;
    if (!sum_) return copy_bytes(at, source, static_cast<size_t>(count) * item_);
    const float* const terms[3] = {reinterpret_cast<const float*>(at), reinterpret_cast<const float*>(source), nullptr};
    sum_(terms, reinterpret_cast<float*>(at), count);
  };
  int64_t read = 0, write = 0;
  for (int i = 0; i < rank; ++i) read += part.from[i] * from_strides[i], write += part.to[i] * to_strides[i];
  Shape index = zeros_like(part.size);
  for (int axis = last;;) {
    run(read, write);
    for (axis = last - 1; axis >= 0; --axis) {
      read += from_strides[axis], write += to_strides[axis];
      if (++index[axis] < part.size[axis]) break;
      read -= part.size[axis] * from_strides[axis], write -= part.size[axis] * to_strides[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace retrace
