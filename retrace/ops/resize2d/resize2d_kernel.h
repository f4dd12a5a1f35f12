#pragma once
// The kernels of resize2d; the contract is in resize2d.h. `done` is called for finished elements.

#include "retrace/ops/pool/pooling.h"
#include "retrace/ops/resize2d/resize2d_axis.h"

namespace retrace {

struct ResizeShape {
  int64_t batch, channels;
  ResizeAxis y, x;
};

// What the kernels look up for each row and column: `memory` has resize2d_workspace() bytes.
template <class T>
struct ResizeTables {
  ResizeSource<T>*y, *x;  // of each output
  ResizeRange *rows, *columns;

  ResizeTables(const ResizeShape& shape, void* memory)
      : y(static_cast<ResizeSource<T>*>(memory)),
        x(y + shape.y.out),
        rows(reinterpret_cast<ResizeRange*>(x + shape.x.out)),
        columns(rows + shape.y.in) {
    fill(shape.y, y, rows), fill(shape.x, x, columns);
  }

 private:
  static void fill(const ResizeAxis& axis, ResizeSource<T>* sources, ResizeRange* ranges) {
    for (int o = 0; o < axis.out; ++o) sources[o] = axis.source<T>(o);
    for (int i = 0; i < axis.in; ++i) ranges[i] = axis.outputs(i);
  }
};

// For so many rows and columns of x and y together.
inline int64_t resize2d_workspace(int64_t lines) {
  constexpr int64_t kSource = sizeof(ResizeSource<double>), kRange = sizeof(ResizeRange);
  return lines * (kSource + kRange);
}

void resize2d_forward(const ResizeShape& shape, const ResizeTables<float>& tables, const float* x, float* y,
                      PoolDone done);
// dx from dy; every element is written.
void resize2d_backward(const ResizeShape& shape, const ResizeTables<float>& tables, const float* dy, float* dx,
                       PoolDone done);

}  // namespace retrace
