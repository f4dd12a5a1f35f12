#include "retrace/ops/slice/slice_cuda.h"

#include "retrace/ops/cuda_call.h"

namespace retrace {
namespace {

template <class T>
PadArguments<T> pad_arguments(const CudaCall& call) {
  const Shape &x = call.inputs[0].spec->shape, &y = call.outputs[0].spec->shape;
  const Shape &begin = call.attributes.list("begin"), &step = call.attributes.list("step");
  PadArguments<T> a{call.inputs[0].data, call.outputs[0].data, cuda_count(y.count()), y.rank(), {}, {}, {}, {}};
  for (int i = 0; i < y.rank(); ++i) {
    a.shape[i] = cuda::Divisor(static_cast<unsigned>(y[i]));
    a.begin[i] = static_cast<unsigned>(begin[i]);
    if (x[i] > 1)
      a.step[i] = cuda::Divisor(static_cast<unsigned>(step[i]));  // a longer one than the shape: one element
    a.size[i] = static_cast<unsigned>(x[i]);
  }
  return a;
}

template <class T>
void add_slice_cuda(const CudaCall& call, std::string_view kernel) {
  const auto arguments = pad_arguments<T>(call);
  add_elementwise(call.launches, kernel, arguments.count, arguments);
}

// Copies items of 16 bytes if the last axis of x and of the result consists of whole ones.
bool add_wide(const CudaCall& call, unsigned items) {
  auto a = pad_arguments<Words4>(call);
  const int last = a.rank - 1;
  if (last < 0 || a.step[last].divisor != 1 || a.shape[last].divisor % items || a.begin[last] % items ||
      a.size[last] % items)
    return false;
  a.count /= items, a.shape[last] = cuda::Divisor(a.shape[last].divisor / items), a.begin[last] /= items,
                    a.size[last] /= items;
  add_elementwise(call.launches, "pad_16", a.count, a);
  return true;
}

}  // namespace

void cuda_pad(const CudaCall& call) {
  const size_t item = size_of(call.outputs[0].spec->type);
  if (add_wide(call, static_cast<unsigned>(16 / item))) return;
  if (item == 1) return add_slice_cuda<unsigned char>(call, "pad_1");
  if (item == 2) return add_slice_cuda<unsigned short>(call, "pad_2");
  if (item == 4) return add_slice_cuda<unsigned>(call, "pad_4");
  add_slice_cuda<unsigned long long>(call, "pad_8");
}

}  // namespace retrace
