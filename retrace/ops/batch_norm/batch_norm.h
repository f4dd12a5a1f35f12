#pragma once
// Batch norm over all axes but the last, the channels (labelled C or unlabelled). In training the statistics are those
// of this batch, with the biased variance; in inference they are the given running ones. Nothing is changed in place:
// training returns the batch's moments, and update_statistics makes the new running state of them.
//
// Its one written sequence of roundings, each operation rounded once:
//   mean, m2 = moments(x)                           pairs and the tree, docs/numerics.md 3
//   variance = m2 / n                               n positions, rounded to the type; inference: as given
//   inv = 1 / sqrt(variance + epsilon)              division and square root, no estimate
//   scale' = inv * scale
//   y = (x - mean) * scale' + offset                two roundings: product, then sum
// Gradient in training, with xhat = (x - mean) * inv and column sums over the positions:
//   doffset = sum dy        dscale = sum(dy * xhat)
//   dx = scale' * ((dy - doffset / n) - xhat * (dscale / n))
//
//   auto result = batch_norm(x, parameters["norm1"], state["norm1"], phase);   // parameters {scale, offset}
//   moments["norm1"] = result.moments;                                         // state {mean, variance}
//   ... state = update_statistics(state, moments);

#include "retrace/tensor/tree.h"

namespace retrace {

enum class Phase { train, inference };

struct BatchNormOptions {
  double epsilon = 1e-5;
};

struct BatchNormResult {
  Tensor y;      // like x
  Tree moments;  // marked "moments": {count (i32), mean, m2}; empty in inference
};

// f32 or f64, x with two axes or more; scale and offset, and in inference mean and variance, have one element a
// channel. Throws Error(usage) otherwise. In training `state` is not read and may be empty.
BatchNormResult batch_norm(const Tensor& x, const Tree& parameters, const Tree& state, Phase phase,
                           BatchNormOptions options = {}, Place place = Place::here());
// By the statistics of this batch.
BatchNormResult batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, BatchNormOptions options = {},
                           Place place = Place::here());
// By given statistics.
Tensor batch_norm_inference(const Tensor& x, const Tensor& scale, const Tensor& offset, const Tensor& mean,
                            const Tensor& variance, BatchNormOptions options = {}, Place place = Place::here());

struct StatisticsOptions {
  float mean_decay = 0.1f;
  float variance_decay = 0.1f;
};

// The running state after a batch: for each norm of `moments` new = decay * batch + (1 - decay) * old, with the batch's
// mean and biased variance m2 / count; each operation is rounded, 1 - decay to f32, and a result below 2^-126 is +0.
// Norms without moments keep their state. Throws Error(usage) for a norm that the state lacks.
Tree update_statistics(const Tree& state, const Tree& moments, StatisticsOptions options = {},
                       Place place = Place::here());

// Moments of two parts together, by the merge of docs/numerics.md 3: of one norm, or of trees of norms alike.
Tree merge_moments(const Tree& a, const Tree& b, Place place = Place::here());

}  // namespace retrace
