#pragma once
// Random tensors, keyed and never stateful (docs/numerics/random.md): element i of sample s of a draw is a function of
// the key, the step, the ordinal of the draw, s and i. If the result has a B label its rows are samples, counted
// through the whole mini-batch; else all elements are of sample 0. No gradient: a draw does not depend on parameters.
//
//   uniform:  [0, 1), 24 random bits times 2^-24
//   normal:   mean 0, deviation 1, by Box-Muller: elements 2i and 2i + 1 are r cos(a) and r sin(a), with
//             r = sqrt(-2 log(1 - u)) and a = 2 pi v
//   integers: i32 in 0..n-1, by the high half of a 32 x 32 bit product
//
// Inside a function made by value_and_grad or accelerate, draws without a key take it from the call and are fresh;
// elsewhere they need one: random_key(seed).split("dropout"). Equal keys give equal numbers.

#include "retrace/tensor/tensor.h"

namespace retrace {

class RandomKey {
 public:
  explicit RandomKey(uint64_t value) : value_(value) {}
  // An independent key for each name, or number.
  RandomKey split(std::string_view name) const;
  RandomKey split(uint64_t number) const;
  uint64_t value() const { return value_; }
  // What draw ops take: i32[4], the key's and the step's words, low before high.
  Tensor tensor(int64_t step = 0) const;

 private:
  uint64_t value_;
};

RandomKey random_key(uint64_t seed);

struct DrawOptions {
  std::string_view labels = "";
  DType type = DType::f32;  // f32 or f64 (uniform: the same number); integers are always i32
};

Tensor uniform(const Shape& shape, RandomKey key, DrawOptions options = {}, Place place = Place::here());
Tensor uniform(const Shape& shape, DrawOptions options = {}, Place place = Place::here());
Tensor normal(const Shape& shape, RandomKey key, DrawOptions options = {}, Place place = Place::here());
Tensor normal(const Shape& shape, DrawOptions options = {}, Place place = Place::here());
Tensor integers(const Shape& shape, int32_t n, RandomKey key, DrawOptions options = {}, Place place = Place::here());
Tensor integers(const Shape& shape, int32_t n, DrawOptions options = {}, Place place = Place::here());

}  // namespace retrace
