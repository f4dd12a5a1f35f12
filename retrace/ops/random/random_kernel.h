#pragma once
// The kernels of random.h: samples x elements numbers of one stream.

#include "retrace/trace/op.h"

namespace retrace {

struct Draw {
  uint64_t key = 0;
  int64_t first_sample = 0, samples = 0, elements = 0;
};

// The draw that a call asks for, without its key.
struct DrawStream {
  uint64_t purpose = 0, ordinal = 0;
  int64_t first_sample = 0, samples = 0, elements = 0;
};
DrawStream draw_stream(const Attributes& attributes, const TensorSpec& result);

void draw_uniform(const Draw& draw, float* y);
void draw_normal(const Draw& draw, float* y);
void draw_normal_reference(const Draw& draw, double* y);  // element by element, with binary64 functions
void draw_integers(const Draw& draw, uint32_t n, int32_t* y);

}  // namespace retrace
