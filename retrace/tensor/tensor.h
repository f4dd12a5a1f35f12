#pragma once
// Tensors.

#include "retrace/base/requirements.h"

#include <concepts>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/device/device.h"
#include "retrace/tensor/spec.h"

namespace retrace {

// Work that is recorded and not yet computed; evaluate() computes all that its thread recorded.
class PendingWork {
 public:
  virtual ~PendingWork() = default;
  virtual void evaluate(Place place) = 0;
};

// The value that tensors share.
struct TensorValue {
  TensorSpec spec;
  std::shared_ptr<Buffer> buffer;        // null until computed
  std::shared_ptr<Buffer> on_host;       // of a value on another device: its bytes here, once they were read
  std::shared_ptr<PendingWork> pending;  // null once it left its trace; both are set if it was read while its
                                         // trace goes on (inside a function that is being differentiated)
  int32_t id = -1;                       // of the value in its pending trace
};

// A value without a trace, in recycled memory.
std::shared_ptr<TensorValue> new_tensor_value(TensorSpec spec = {}, std::shared_ptr<Buffer> buffer = nullptr);

// The C++ types that tensors are made from and read as. int64_t values are read exactly; a tensor that from() makes of
// them is i32.
template <class T>
concept Element =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, int32_t> || std::same_as<T, int64_t> ||
    std::same_as<T, uint8_t> || std::same_as<T, bool> || std::same_as<T, BFloat16> || std::same_as<T, Float16>;

// Memory for a tensor. Throws Error(unavailable), with the size that was asked for, if there is none.
std::shared_ptr<Buffer> allocate_for(const TensorSpec& spec, Device& device, Place place);
// The error that there is no memory for so many bytes.
Error no_memory(size_t bytes, Place place);
// Throws Error(usage) unless can_hold(type, value).
void check_fits(DType type, double value, Place place);

// An index as x[i] takes it, of any integer type, and the line that asks for it.
struct AxisIndex {
  template <std::integral T>
  AxisIndex(T index, Place asked_at = Place::here()) : value(static_cast<int64_t>(index)), place(asked_at) {}
  int64_t value;
  Place place;
};

// What users hold: a handle to a value that is known or recorded. Copies share the value; nothing changes a value once
// it is made.
class Tensor {
 public:
  Tensor() = default;  // holds nothing; defined() is false
  explicit Tensor(std::shared_ptr<TensorValue> value) : value_(std::move(value)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept : value_(std::move(other.value_)) { other.note_move(value_); }
  Tensor& operator=(const Tensor&) = default;
  Tensor& operator=(Tensor&& other) noexcept {
    auto value = std::move(other.value_);
    other.note_move(value);
    value_ = std::move(value);
    return *this;
  }
  ~Tensor() = default;

  // A tensor from values in row-major order of `shape`; T is float, double, int32_t, int64_t (each must fit an i32),
  // uint8_t, bool (as uint8_t 0 and 1), BFloat16 or Float16. With labels, one for each axis (or more: the surplus are
  // axes of size 1), in any order: the data is permuted to the canonical order B T S C U. Throws Error(usage) if the
  // sizes disagree or a label is wrong.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape, std::string_view labels = "",
                     Place place = Place::here()) {
    static_assert(
        Element<T>,
        "a tensor is made from values of type float, double, int32_t, int64_t, uint8_t, bool, BFloat16 or Float16");
    return from_values(values, shape, labels, place);
  }
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape, std::string_view labels = "",
                     Place place = Place::here()) {
    if constexpr (std::same_as<T, bool>) {  // bits, in a std::vector
      const auto bytes = std::make_unique<bool[]>(values.size());
      for (size_t i = 0; i < values.size(); ++i) bytes[i] = values[i];
      return from(std::span<const bool>(bytes.get(), values.size()), shape, labels, place);
    } else {
      return from(std::span<const T>(values), shape, labels, place);
    }
  }
  template <class T>
  static Tensor from(std::initializer_list<T> values, const Shape& shape, std::string_view labels = "",
                     Place place = Place::here()) {
    return from(std::span<const T>(values.begin(), values.size()), shape, labels, place);
  }
  // The same of type i64.
  static Tensor from_i64(std::span<const int64_t> values, const Shape& shape, std::string_view labels = "",
                         Place place = Place::here());
  static Tensor from_bytes(const void* bytes, const TensorSpec& spec);  // already in canonical order
  template <class T>
  static Tensor scalar(T value, Place place = Place::here()) {
    return from(std::span<const T>(&value, 1), Shape(), "", place);
  }
  // All elements `value`, rounded once to a float type. Type and labels: both in either order, or one. Error(usage) if
  // an integer type (or bool: 0 and 1) has no such number, Error(unavailable) if there is no memory.
  static Tensor full(double value, const Shape& shape, DType type = DType::f32, std::string_view labels = "",
                     Place place = Place::here());
  static Tensor full(double value, const Shape& shape, std::string_view labels, DType type = DType::f32,
                     Place place = Place::here()) {
    return full(value, shape, type, labels, place);
  }
  static Tensor zeros(const Shape& shape, DType type = DType::f32, std::string_view labels = "",
                      Place place = Place::here()) {
    return full(0, shape, type, labels, place);
  }
  static Tensor zeros(const Shape& shape, std::string_view labels, DType type = DType::f32,
                      Place place = Place::here()) {
    return full(0, shape, type, labels, place);
  }
  static Tensor ones(const Shape& shape, DType type = DType::f32, std::string_view labels = "",
                     Place place = Place::here()) {
    return full(1, shape, type, labels, place);
  }
  static Tensor ones(const Shape& shape, std::string_view labels, DType type = DType::f32,
                     Place place = Place::here()) {
    return full(1, shape, type, labels, place);
  }
  // begin, begin + step, ... before end (arange(end): from 0 in steps of 1). Element i is begin + i * step in binary64,
  // product and sum rounded, then rounded once to a float type; there are (end - begin) / step of them, rounded up, or
  // none. Error(usage) for a step of 0, numbers that are not finite, and an element that an integer type lacks.
  static Tensor arange(double end, DType type = DType::f32, Place place = Place::here()) {
    return arange(0, end, 1, type, place);
  }
  static Tensor arange(double begin, double end, double step = 1, DType type = DType::f32, Place place = Place::here());
  // `count` numbers at equal distances, the last of two or more being `end`: element i before it is begin + i * ((end -
  // begin) / (count - 1)) in binary64, each operation rounded, then rounded once to a float type. Throws Error(usage)
  // as arange, for a negative count, and if end - begin is not finite.
  static Tensor linspace(double begin, double end, int64_t count, DType type = DType::f32, Place place = Place::here());
  // The matrix [size, size] with 1 on its diagonal and 0 elsewhere.
  static Tensor eye(int64_t size, DType type = DType::f32, Place place = Place::here());

  // The element i of the first axis, without that axis and its label: x[0], x[-1] (the last), x[i][j]. Recorded like an
  // op, with the gradient of slice (retrace/ops/slice/slice.h, where it is implemented); select() takes any axis.
  // Error(usage) for an index outside of the axis, and for rank 0.
  Tensor operator[](AxisIndex i) const;

  bool defined() const { return value_ != nullptr && value_.get() != moved(); }
  // These and all functions below throw Error(usage) if defined() is false.
  const TensorSpec& spec(Place place = Place::here()) const {
    if (!defined()) refuse(place);
    return value_->spec;
  }
  const Shape& shape(Place place = Place::here()) const { return spec(place).shape; }
  DType type(Place place = Place::here()) const { return spec(place).type; }
  int rank(Place place = Place::here()) const { return shape(place).rank(); }
  int64_t size(Place place = Place::here()) const { return shape(place).count(); }
  std::string_view labels(Place place = Place::here()) const { return spec(place).labels.text(); }

  // The values in row-major order. They are computed now if they are only recorded. T must be the element type (uint8_t
  // for bool), or int64_t for any integer type and bool.
  template <class T>
  std::vector<T> to_vector(Place place = Place::here()) const {
    static_assert(Element<T> && !std::same_as<T, bool>,
                  "values of a tensor are read as float, double, int32_t, int64_t, uint8_t (also those of type bool), "
                  "BFloat16 or "
                  "Float16");
    return values<T>(place);
  }
  // The only element.
  template <class T>
  T item(Place place = Place::here()) const {
    check_single(place);
    return to_vector<T>(place)[0];
  }
  // The element as binary64, whatever its type; the tensor must have one element.
  double number(Place place = Place::here()) const;
  // Raw bytes on the host, computed (and copied here from another device) now if needed; valid while this tensor lives.
  const void* data(Place place = Place::here()) const;
  Device& device(Place place = Place::here()) const;
  // The same values on another device, x.to("cuda"), computed and copied now. Returns this tensor if it is there
  // already.
  Tensor to(DeviceRef device, Place place = Place::here()) const;
  // The same values under other labels (already in canonical order; "" removes them). They are computed now if needed.
  Tensor relabelled(std::string_view labels, BatchPart part = {}, Place place = Place::here()) const;

  const std::shared_ptr<TensorValue>& value() const { return value_; }

 private:
  template <class T>
  static Tensor from_values(std::span<const T> values, const Shape& shape, std::string_view labels, Place place);
  template <class T>
  std::vector<T> values(Place place) const;
  void check_single(Place place) const;
  [[noreturn]] void refuse(Place place) const;
  // The address that a moved-from tensor holds; it is never followed.
  static TensorValue* moved() { return reinterpret_cast<TensorValue*>(&moved_mark_); }
  void note_move(const std::shared_ptr<TensorValue>& value) noexcept {
    if (value) value_ = std::shared_ptr<TensorValue>(std::shared_ptr<void>(), moved());
  }
  alignas(TensorValue) static inline std::byte moved_mark_[sizeof(TensorValue)] = {};
  std::shared_ptr<TensorValue> value_;
};

// Computes everything that this thread recorded and somebody still holds. Implemented in trace/, above this folder.
void evaluate(Place place = Place::here());

// Computes the value of x now if it is only recorded; evaluate() computes all that this thread recorded.
void evaluate(const Tensor& x, Place place = Place::here());

// "f32[2,2] "BC" {1, 2, 3, 4}", with at most `most` elements; evaluates.
std::string text_of(const Tensor& tensor, int most = 16, Place place = Place::here());
// The same with 16 elements; "no tensor" for one that holds nothing.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace retrace
