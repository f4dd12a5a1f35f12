#pragma once
// What users hold: a handle to a value that is known or recorded. Copies share the value; nothing changes a
// value once it is made.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/device/device.h"
#include "retrace/tensor/spec.h"

namespace retrace {

// Something recorded and not yet computed; evaluate() computes all that its thread recorded.
class PendingWork {
 public:
  virtual ~PendingWork() = default;
  virtual void evaluate(Place place) = 0;
};

struct TensorValue {
  TensorSpec spec;
  std::shared_ptr<Buffer> buffer;        // null until computed
  std::shared_ptr<Buffer> on_host;       // of a value on another device: its bytes here, once somebody read them
  std::shared_ptr<PendingWork> pending;  // null once it left its trace; both are set if it was read while its
                                         // trace goes on (inside a function that is being differentiated)
  int32_t id = -1;                       // of the value in its pending trace
};

// A value without a trace, in recycled memory.
std::shared_ptr<TensorValue> new_tensor_value(TensorSpec spec = {}, std::shared_ptr<Buffer> buffer = nullptr);

class Tensor {
 public:
  Tensor() = default;  // holds nothing; defined() is false
  explicit Tensor(std::shared_ptr<TensorValue> value) : value_(std::move(value)) {}

  // From values in row-major order of `shape`; T is float, double, int32_t, uint8_t or bool (as uint8_t 0 and 1).
  // With labels, one for each axis (or more: the surplus are axes of size 1), in any order: the data is permuted to
  // the canonical order B T S C U. Throws Error(usage) if the sizes disagree or a label is wrong.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape, std::string_view labels = "",
                     Place place = Place::here());
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape, std::string_view labels = "",
                     Place place = Place::here()) {
    return from(std::span<const T>(values), shape, labels, place);
  }
  template <class T>
  static Tensor from(std::initializer_list<T> values, const Shape& shape, std::string_view labels = "",
                     Place place = Place::here()) {
    return from(std::span<const T>(values.begin(), values.size()), shape, labels, place);
  }
  static Tensor from_bytes(const void* bytes, const TensorSpec& spec);  // already in canonical order
  template <class T>
  static Tensor scalar(T value) {
    return from(std::span<const T>(&value, 1), Shape());
  }
  // All elements alike: 0, or `value` rounded once to `type`.
  static Tensor full(const Shape& shape, double value, DType type = DType::f32, std::string_view labels = "");
  static Tensor zeros(const Shape& shape, DType type = DType::f32, std::string_view labels = "") {
    return full(shape, 0, type, labels);
  }

  bool defined() const { return value_ != nullptr; }
  const TensorSpec& spec() const;
  const Shape& shape() const { return spec().shape; }
  DType type() const { return spec().type; }
  int rank() const { return shape().rank(); }
  int64_t size() const { return shape().count(); }
  std::string_view labels() const { return spec().labels.text(); }

  // The values in row-major order, computed now if they are only recorded. T must be the element type
  // (uint8_t for bool).
  template <class T>
  std::vector<T> to_vector(Place place = Place::here()) const;
  // The only element.
  template <class T>
  T item(Place place = Place::here()) const;
  // The element as binary64, whatever its type; the tensor must have one element.
  double number(Place place = Place::here()) const;
  // Raw bytes on the host, computed (and copied here from another device) now if needed; valid while this tensor lives.
  const void* data(Place place = Place::here()) const;
  // Computes the value now if it is only recorded.
  void compute(Place place = Place::here()) const;
  Device& device() const;
  // The same values on another device, computed and copied now; this tensor if it is there already.
  Tensor to(Device& device, Place place = Place::here()) const;
  // Same values under other labels (already in canonical order; "" removes them). Computed now if needed.
  Tensor relabelled(std::string_view labels, BatchPart part = {}, Place place = Place::here()) const;

  const std::shared_ptr<TensorValue>& value() const { return value_; }

 private:
  std::shared_ptr<TensorValue> value_;
};

// "f32[2,2] "BC" {1, 2, 3, 4}", with at most `most` elements; evaluates.
std::string text_of(const Tensor& tensor, int most = 16, Place place = Place::here());

}  // namespace retrace
