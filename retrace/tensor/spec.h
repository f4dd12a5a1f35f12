#pragma once
// What is known of a tensor without its values.

#include <string>

#include "retrace/device/device.h"
#include "retrace/tensor/dtype.h"
#include "retrace/tensor/labels.h"
#include "retrace/tensor/shape.h"

namespace retrace {

// The position of a tensor's samples in the whole mini-batch; whole = 0: it is not part of one.
struct BatchPart {
  int64_t whole = 0;
  int64_t first = 0;
  bool operator==(const BatchPart&) const = default;
};

// Type, shape, labels and device of a tensor, and its position in the mini-batch.
struct TensorSpec {
  DType type = DType::f32;
  Shape shape;
  Labels labels;  // empty, or one for each axis
  BatchPart part;
  DeviceId device = 0;

  int64_t count() const { return shape.count(); }
  size_t bytes() const { return static_cast<size_t>(count()) * size_of(type); }
  // Whether the first axis has the label B.
  bool batch_first() const { return labels.find('B') == 0; }
  bool operator==(const TensorSpec&) const = default;
  // f32[32,28,28,1] "BSSC", and " on cuda:0" unless it is on the CPU.
  std::string text() const;
};

}  // namespace retrace
