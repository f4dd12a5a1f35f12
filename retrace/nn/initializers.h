#pragma once
// Starting values of parameters. Random ones are functions of a key alone: with a key split by the parameter's name no
// order of layers matters.

#include <functional>

#include "retrace/ops/ops.h"

namespace retrace::nn {

// How many inputs an output has, and how many outputs an input has; as explicit numbers, since published networks
// differ.
struct Fans {
  int64_t fan_in = 1, fan_out = 1;
};
// Of weights [kh,kw,in/groups,out]: kh*kw*in/groups and kh*kw*out/groups.
Fans conv2d_fans(const Shape& weights, int64_t groups = 1);
// Of weights [kh,kw,filters,in]: kh*kw*in and kh*kw*filters.
Fans transposed_conv2d_fans(const Shape& weights);
// Of weights [out,in].
Fans linear_fans(const Shape& weights);

// f32, (2u - 1) * b with u uniform in [0, 1) and b = sqrt(6 / (fan_in + fan_out)) rounded once (Glorot and Bengio,
// 2010).
Tensor glorot_uniform(const Shape& shape, Fans fans, RandomKey key);
// f32, z * d with z normal and d = sqrt(2 / fan_in) rounded once (He et al., 2015).
Tensor he_normal(const Shape& shape, Fans fans, RandomKey key);
// f32, z * d with d = sqrt(2 / (fan_in + fan_out)) rounded once (Glorot and Bengio, 2010).
Tensor glorot_normal(const Shape& shape, Fans fans, RandomKey key);
// f32, (2u - 1) * b with b = sqrt(6 / fan_in) rounded once (He et al., 2015).
Tensor he_uniform(const Shape& shape, Fans fans, RandomKey key);
// f32, z * d with d = sqrt(1 / fan_in) rounded once (LeCun et al., 1998).
Tensor lecun_normal(const Shape& shape, Fans fans, RandomKey key);
// f32. All axes but the last one are the rows of a matrix, the last one is its columns. Of a matrix no wider than high
// the columns are orthonormal, of another one the rows: z normal, made orthonormal by the modified Gram-Schmidt process
// in f64 and rounded once (Saxe et al., 2014). Takes rows * columns * min(rows, columns) multiplications. Error(usage)
// for a scalar.
Tensor orthogonal(const Shape& shape, Fans fans, RandomKey key);
// glorot_uniform with fan_out for both fans.
Tensor glorot_uniform_fan_out(const Shape& shape, Fans fans, RandomKey key);

// What makes the starting values of a parameter of that shape.
using Initializer = std::function<Tensor(const Shape& shape, Fans fans, RandomKey key)>;
// z * deviation with z normal; needs no fans.
Initializer normal_values(double deviation);
// Everywhere that number; needs neither fans nor key.
Initializer constant_values(double value);

}  // namespace retrace::nn
