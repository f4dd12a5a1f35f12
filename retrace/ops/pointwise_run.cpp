// Pointwise ops outside of tile programs: of f64, integers and bools. Blocks of elements are brought to the type that
// is computed in, binary64, i32 or i64, and each result to that of the output.
#include <algorithm>
#include <array>

#include "retrace/device/cpu/threads.h"
#include "retrace/ops/copy/strided_copy.h"
#include "retrace/ops/pointwise.h"
#include "retrace/tensor/number.h"

namespace retrace {
namespace {

constexpr int64_t kBlock = 512;   // elements that are computed together
constexpr int64_t kPiece = 8192;  // that one thread takes at a time
constexpr size_t kMostInputs = 3;

template <class To, class From>
void read_run(const From* from, int64_t stride, To* to, int64_t count) {
  if (stride == 0)
    std::fill_n(to, count, static_cast<To>(number(from[0])));
  else
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(number(from[i * stride]));
}

// The elements of an input in the order of the output's.
class BroadcastReader {
 public:
  BroadcastReader() = default;
  BroadcastReader(const KernelInput& input, const Shape& out) : data_(input.data), type_(input.spec->type) {
    const Shape& own = input.spec->shape;
    const Shape strides = row_major_strides(own);
    Shape from;
    for (int i = 0; i < out.rank(); ++i) {
      const int axis = i - (out.rank() - own.rank());
      from.push_back(axis < 0 || own[axis] == 1 ? 0 : strides[axis]);
    }
    layout_ = merged_layout(out, from, row_major_strides(out));
  }

  // Elements `first` to `first + count` into `to`.
  template <class T>
  void read(int64_t first, int64_t count, T* to) const {
    const int last = layout_.shape.rank() - 1;
    const int64_t row = last < 0 ? 1 : layout_.shape[last], stride = last < 0 ? 0 : layout_.from[last];
    while (count > 0) {
      int64_t left = first / row, offset = first % row * stride;
      for (int i = last - 1; i >= 0; --i) offset += left % layout_.shape[i] * layout_.from[i], left /= layout_.shape[i];
      const int64_t run = std::min(count, row - first % row);
      read_part(offset, stride, to, run);
      first += run, count -= run, to += run;
    }
  }

 private:
  template <class T>
  void read_part(int64_t offset, int64_t stride, T* to, int64_t count) const {
    const auto of = [&](const auto* from) { read_run(from + offset, stride, to, count); };
    switch (type_) {
      case DType::f32: return of(static_cast<const float*>(data_));
      case DType::f64: return of(static_cast<const double*>(data_));
      case DType::i32: return of(static_cast<const int32_t*>(data_));
      case DType::i64: return of(static_cast<const int64_t*>(data_));
      case DType::bf16: return of(static_cast<const BFloat16*>(data_));
      case DType::f16: return of(static_cast<const Float16*>(data_));
      case DType::u8:
      case DType::boolean: return of(static_cast<const uint8_t*>(data_));
    }
  }

  const void* data_ = nullptr;
  DType type_ = DType::f32;
  StridedLayout layout_;
};

template <class T>
void write(const KernelOutput& output, int64_t first, int64_t count, const T* values) {
  const auto to = [&](auto* out) {
    using Element = std::remove_pointer_t<decltype(out)>;
    for (int64_t i = 0; i < count; ++i) out[first + i] = static_cast<Element>(values[i]);
  };
  const auto halves = [&](auto bits) {
    auto* const out = static_cast<uint16_t*>(output.data);
    for (int64_t i = 0; i < count; ++i) out[first + i] = bits(static_cast<float>(values[i]));
  };
  switch (output.spec->type) {
    case DType::bf16: return halves([](float x) { return to_bf16(x).bits; });
    case DType::f16: return halves([](float x) { return to_f16(x).bits; });
    case DType::i64: return to(static_cast<int64_t*>(output.data));
    case DType::f32: return to(static_cast<float*>(output.data));
    case DType::f64: return to(static_cast<double*>(output.data));
    case DType::i32: return to(static_cast<int32_t*>(output.data));
    case DType::u8: return to(static_cast<uint8_t*>(output.data));
    case DType::boolean: break;
  }
  auto* const out = static_cast<uint8_t*>(output.data);
  for (int64_t i = 0; i < count; ++i) out[first + i] = values[i] != 0;
}

// `compute` makes `count` elements of T from as many of each input.
template <class T, class Compute>
void run_blocks(const KernelCall& call, const Compute& compute) {
  const Shape& shape = call.outputs[0].spec->shape;
  const int64_t count = shape.count();
  std::array<BroadcastReader, kMostInputs> readers;  // no memory is taken: this runs within steps
  const size_t arity = call.inputs.size();
  for (size_t n = 0; n < arity; ++n) readers[n] = BroadcastReader(call.inputs[n], shape);
  run_pieces((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    T in[kMostInputs][kBlock], out[kBlock];
    const T* const pointers[kMostInputs] = {in[0], in[1], in[2]};
    const int64_t end = std::min(count, (piece + 1) * kPiece);
    for (int64_t first = piece * kPiece; first < end; first += kBlock) {
      const int64_t own = std::min(kBlock, end - first);
      for (size_t n = 0; n < arity; ++n) readers[n].read(first, own, in[n]);
      for (size_t n = arity; n < kMostInputs; ++n) std::fill_n(in[n], own, T(0));
      compute(pointers, out, own);
      write(call.outputs[0], first, own, out);
    }
  });
}

}  // namespace

void run_pointwise(const Op& op, const KernelCall& call) {
  const bool integers = op.integer && std::none_of(call.inputs.begin(), call.inputs.end(),
                                                   [](const KernelInput& input) { return is_float(input.spec->type); });
  ensure(call.inputs.size() <= kMostInputs && (integers || op.rule), "a pointwise op has a rule for its types");
  if (!integers) return run_blocks<double>(call, op.rule->reference);
  const bool wide = call.outputs[0].spec->type == DType::i64 ||
                    std::any_of(call.inputs.begin(), call.inputs.end(),
                                [](const KernelInput& input) { return input.spec->type == DType::i64; });
  if (wide) return run_blocks<int64_t>(call, op.integer.run_wide);
  run_blocks<int32_t>(call, op.integer.run);
}

}  // namespace retrace
