#ifndef RETRACE_OPS_RANDOM_H
#define RETRACE_OPS_RANDOM_H
// Random tensors: keyed, never stateful.

#include <string>

#include "retrace/tensor/tensor.h"

namespace retrace {

// A key names a sequence of draws. Equal keys give equal numbers.
class RandomKey {
 public:
  explicit RandomKey(uint64_t value) : value_(value) {}
  // An independent key for each name, or number.
  RandomKey split(std::string_view name) const;
  RandomKey split(uint64_t number) const;
  uint64_t value() const { return value_; }
  // The key as draw ops take it: i32[4], the words of the key and of the step, low before high.
  Tensor tensor(int64_t step = 0) const;

 private:
  uint64_t value_;
};

// The key of a seed.
RandomKey random_key(uint64_t seed);

// The key of a function's draws: random_key(seed), split by the function's name unless that is empty.
RandomKey function_key(uint64_t seed, std::string_view name);

// Options of the draws: labels and type of the result.
struct DrawOptions {
  std::string labels = "";
  DType type = DType::f32;  // f32 or f64 (uniform: the same number); integers are always i32
};

// Uniform numbers in [0, 1): 24 random bits times 2^-24. f32, or f64 with the same values.
//
// Holds for all draws: they come from Philox4x32-10 (Salmon et al. 2011), docs/numerics/random.md. Element i of sample
// s is a function of the key, the step, the ordinal of the draw, s and i. If the result has a B label its rows are
// samples, counted through the whole mini-batch; otherwise all elements belong to sample 0. Inside a function made by
// value_and_grad or accelerate, draws without a key take the key of the call and are fresh in each call; elsewhere they
// need one: random_key(seed).split("dropout"). Error(usage) without a key there, for a negative size or another type.
// No gradient: a draw does not depend on parameters.
Tensor uniform(const Shape& shape, RandomKey key, const DrawOptions& options = {}, Place place = Place::here());
Tensor uniform(const Shape& shape, const DrawOptions& options = {}, Place place = Place::here());

// Normal numbers of mean 0 and standard deviation 1 (Box & Muller 1958): elements 2i and 2i + 1 are r cos(a) and r
// sin(a), with r = sqrt(-2 log(1 - u)) and a = 2 pi v. f32 or f64; everything else as for uniform.
Tensor normal(const Shape& shape, RandomKey key, const DrawOptions& options = {}, Place place = Place::here());
Tensor normal(const Shape& shape, const DrawOptions& options = {}, Place place = Place::here());

// Integers from 0 to n - 1, i32, by the high half of a 32 x 32 bit product. Error(usage) for n < 1; everything else as
// for uniform.
Tensor integers(const Shape& shape, int32_t n, RandomKey key, const DrawOptions& options = {},
                Place place = Place::here());
Tensor integers(const Shape& shape, int32_t n, const DrawOptions& options = {}, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_RANDOM_H
