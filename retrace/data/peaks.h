#pragma once
// The built-in regression data: a surface with three hills and three hollows.

#include "retrace/data/array_store.h"

namespace retrace::datasets {

// 3 (1-x)^2 exp(-x^2 - (y+1)^2) - 10 (x/5 - x^3 - y^5) exp(-x^2 - y^2) - exp(-(x+1)^2 - y^2) / 3, in binary64 and the
// caller's rounding mode.
double peaks_surface(double x, double y);

// Samples of the surface on [-3,3]^2: point (x, y), f32[2] "C"; height, f32[1] "C"; each rounded once, the same bits
// everywhere. Train: the grid of side x side points, y fastest; test: the middles of its squares. Throws Error(usage)
// if side is not in 2 .. 4096.
Datastore peaks(Split split, int64_t side = 200, Place place = Place::here());
// The same with `count` observations, a square number, spread over all of [-3,3]^2: for training the grid with so many
// points, for testing the middles of a grid with so many squares; 0, or more than peaks(split) has: peaks(split). Each
// set depends on its own count alone, so points of a training grid with an odd number of points a side may be test
// points, too. Throws Error(usage) if count is no square, or below 4 for training.
Datastore peaks_points(Split split, int64_t count, Place place = Place::here());
// The points of a side of the grid behind peaks_points(split, count). The same errors.
int64_t peaks_side(Split split, int64_t count, Place place = Place::here());

}  // namespace retrace::datasets
