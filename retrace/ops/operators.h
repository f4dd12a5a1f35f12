#pragma once
// + - * / on tensors and numbers. A float or double is an input of rank 0 of the other operand's type (rounded once):
// it may change from call to call. An integer is a constant of the recorded trace. The user's place is captured.

#include <concepts>

#include "retrace/tensor/tensor.h"
#include "retrace/tensor/tree.h"

namespace retrace {

class Operand {
 public:
  Operand(const Tensor& tensor, Place place = Place::here()) : tensor_(tensor), place_(place) {}
  Operand(const Tree& leaf, Place place = Place::here()) : tensor_(leaf.tensor()), place_(place) {}
  template <std::floating_point T>
  Operand(T number, Place place = Place::here()) : number_(number), place_(place) {}
  template <std::integral T>
  Operand(T number, Place place = Place::here())
      : number_(static_cast<double>(number)), integer_(true), place_(place) {}

  bool is_tensor() const { return tensor_.defined(); }
  Place place() const { return place_; }
  DType type() const { return tensor_.type(); }
  // The tensor, or the number as a tensor of that type.
  Tensor as(DType type) const;

 private:
  Tensor tensor_;
  double number_ = 0;
  bool integer_ = false;
  Place place_;
};

Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator-(const Tensor& x);

}  // namespace retrace
