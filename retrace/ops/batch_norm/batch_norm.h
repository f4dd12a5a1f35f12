#ifndef RETRACE_OPS_BATCH_NORM_H
#define RETRACE_OPS_BATCH_NORM_H
// Batch normalisation and its running statistics.

#include "retrace/tensor/tree.h"

namespace retrace {

// What a network is run for: training takes the statistics of the batch, inference the running ones.
enum class Phase { train, inference };

// Options of batch_norm. epsilon is added to the variance.
struct BatchNormOptions {
  double epsilon = 1e-5;
};

// What batch_norm returns.
struct BatchNormResult {
  Tensor y;      // like x
  Tree moments;  // marked "moments": {count (i32), mean, m2}; empty in inference
};

// Batch normalisation (Ioffe & Szegedy 2015) over all axes but the last, the channels (labelled C or unlabelled). In
// training the statistics are those of this batch, with the biased variance; in inference they are the running ones.
// Nothing is changed in place: training returns the batch's moments, and update_statistics makes the new running
// statistics from them.
//
// The sequence of roundings, each operation rounded once:
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
//
// x is f32 or f64 and has two axes or more; scale and offset, and in inference mean and variance, have one element for
// each channel. Throws Error(usage) otherwise. In training `state` is not read and may be empty.
BatchNormResult batch_norm(const Tensor& x, const Tree& parameters, const Tree& state, Phase phase,
                           const BatchNormOptions& options = {}, Place place = Place::here());

// The same in training: by the statistics of this batch.
BatchNormResult batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                           const BatchNormOptions& options = {}, Place place = Place::here());

// The same in inference: by the given statistics.
Tensor batch_norm_inference(const Tensor& x, const Tensor& scale, const Tensor& offset, const Tensor& mean,
                            const Tensor& variance, const BatchNormOptions& options = {}, Place place = Place::here());

// Options of update_statistics: the weight of the batch in each running statistic, from 0 to 1, rounded to f32 once.
struct StatisticsOptions {
  double mean_decay = 0.1;
  double variance_decay = 0.1;
};

// The running state after a batch: for each norm of `moments` new = decay * batch + (1 - decay) * old, with the batch's
// mean and biased variance m2 / count; each operation is rounded, and a result below 2^-126 is +0.
// Norms without moments keep their state. Throws Error(usage) for a norm that the state lacks, and for a decay outside
// of 0 to 1.
Tree update_statistics(const Tree& state, const Tree& moments, const StatisticsOptions& options = {},
                       Place place = Place::here());

// The moments of two parts together, by the formula of Chan, Golub and LeVeque (1979), docs/numerics.md 3: of one norm,
// or of trees of norms alike.
Tree merge_moments(const Tree& a, const Tree& b, Place place = Place::here());

}  // namespace retrace

#endif  // RETRACE_OPS_BATCH_NORM_H
