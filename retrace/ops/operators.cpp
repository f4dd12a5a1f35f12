#include "retrace/ops/operators.h"

#include <bit>
#include <cstdint>

#include "retrace/ops/add/add.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/divide/divide.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/negate/negate.h"
#include "retrace/ops/op.h"
#include "retrace/ops/subtract/subtract.h"

namespace retrace {

// Exact in any rounding mode, and where the program flushes subnormal numbers: those go by whole numbers.
double Operand::widened(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const auto magnitude = static_cast<int32_t>(bits & 0x7fffffff);
  if (magnitude == 0 || magnitude >= 0x00800000) return static_cast<double>(number);
  return static_cast<double>(bits >> 31 ? -magnitude : magnitude) * 0x1p-149;
}

Operand Operand::traced(const Tensor& number, Place place) {
  Operand operand(number, place);
  operand.traced_ = true;
  return operand;
}

Tensor Operand::as(DType type) const {
  if (is_tensor()) return tensor_;
  if (integer_) {
    check_fits(type, number_, place_);
    return constant(number_, type);
  }
  if (!is_float(type))
    throw Error(ErrorKind::usage, 109, fmt::format("a float is used with a tensor of type {}", name_of(type)))
        .where(place_)
        .got(traced_ ? "a float argument of an accelerated function" : fmt::format("the number {}", number_))
        .expected(fmt::format("a whole number (an int) that fits {}", name_of(type)))
        .help("cast(x, DType::f32) makes a float tensor of the other operand");
  if (traced_) return tensor_.type() != type ? cast(tensor_, type, place_) : tensor_;
  return Tensor::full(number_, {}, type, "", place_);
}

namespace {
using Binary = Tensor (*)(const Tensor&, const Tensor&, Place);

Tensor apply(Binary op, const Operand& a, const Operand& b) {
  const DType type = a.is_tensor() ? a.type() : b.type();
  return op(a.as(type), b.as(type), a.is_tensor() ? a.place() : b.place());
}
}  // namespace

Tensor operator+(const Operand& a, const Operand& b) { return apply(add, a, b); }
Tensor operator-(const Operand& a, const Operand& b) { return apply(subtract, a, b); }
Tensor operator*(const Operand& a, const Operand& b) { return apply(multiply, a, b); }
Tensor operator/(const Operand& a, const Operand& b) { return apply(divide, a, b); }
Tensor operator-(const Operand& x) { return negate(x.tensor(), x.place()); }

Tensor& operator+=(Tensor& x, const Operand& y) { return x = Operand(x, y.place()) + y; }
Tensor& operator-=(Tensor& x, const Operand& y) { return x = Operand(x, y.place()) - y; }
Tensor& operator*=(Tensor& x, const Operand& y) { return x = Operand(x, y.place()) * y; }
Tensor& operator/=(Tensor& x, const Operand& y) { return x = Operand(x, y.place()) / y; }

Tensor operator<(const Operand& a, const Operand& b) { return apply(less, a, b); }
Tensor operator<=(const Operand& a, const Operand& b) { return apply(less_equal, a, b); }
Tensor operator>(const Operand& a, const Operand& b) { return apply(greater, a, b); }
Tensor operator>=(const Operand& a, const Operand& b) { return apply(greater_equal, a, b); }

}  // namespace retrace
