#pragma once
// + - * / and < <= > >= on tensors and numbers.

#include <concepts>

#include "retrace/tensor/tensor.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// A tensor or a number as an argument of an op. A float or double is an input of rank 0 of the other operand's type
// (rounded once), so it may change from call to call. An integer is a constant of the recorded trace. The user's source
// location is captured.
class Operand {
 public:
  Operand(const Tensor& tensor, Place place = Place::here()) : tensor_(tensor), place_(place) {
    tensor.spec(place);  // refuses an undefined tensor
  }
  Operand(const Tree& leaf, Place place = Place::here()) : tensor_(leaf.tensor(place)), place_(place) {}
  template <std::floating_point T>
  Operand(T number, Place place = Place::here())
      : number_(std::is_same_v<T, float> ? widened(static_cast<float>(number)) : static_cast<double>(number)),
        place_(place) {}
  template <std::integral T>
  Operand(T number, Place place = Place::here())
      : number_(static_cast<double>(number)), integer_(true), place_(place) {}

  // A float or double that changes from call to call of a recorded function: its value is that of a tensor of rank 0.
  static Operand traced(const Tensor& number, Place place = Place::here());

  bool is_tensor() const { return tensor_.defined() && !traced_; }
  bool is_integer() const { return integer_; }
  bool is_traced() const { return traced_; }
  const Tensor& tensor() const { return tensor_; }  // undefined for a number that is not traced
  double number() const { return number_; }         // 0 for a tensor, and for a number that is traced
  Place place() const { return place_; }
  DType type() const { return tensor_.type(); }
  // The tensor, or the number as a tensor of that type. Error(usage) for a number that does not fit the type.
  Tensor as(DType type) const;

 private:
  static double widened(float number);  // keeps a subnormal number where the program flushes them
  Tensor tensor_;
  double number_ = 0;
  bool integer_ = false, traced_ = false;
  Place place_;
};

// The ops add, subtract, multiply, divide and negate, with their contracts. Error(usage) for a float with a tensor of
// an integer type or bool, and for an integer that the type does not have.
Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator-(const Operand& x);
// x becomes x + y, and so on; what shares the old value of x keeps it.
Tensor& operator+=(Tensor& x, const Operand& y);
Tensor& operator-=(Tensor& x, const Operand& y);
Tensor& operator*=(Tensor& x, const Operand& y);
Tensor& operator/=(Tensor& x, const Operand& y);
// The ops less, less_equal, greater and greater_equal, with their contracts and the errors above. Equality has no
// operator: equal(a, b) compares elements.
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);

}  // namespace retrace
