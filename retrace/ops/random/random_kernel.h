#pragma once
// The kernels of random.h: samples x elements numbers of one stream.

#include <cstdint>

namespace retrace {

struct Draw {
  uint64_t key = 0;
  int64_t first_sample = 0, samples = 0, elements = 0;
};

void draw_uniform(const Draw& draw, float* y);
void draw_normal(const Draw& draw, float* y);
void draw_normal_reference(const Draw& draw, double* y);  // element by element, with binary64 functions
void draw_integers(const Draw& draw, uint32_t n, int32_t* y);

}  // namespace retrace
