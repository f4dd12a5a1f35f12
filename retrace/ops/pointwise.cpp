#include "retrace/ops/pointwise.h"

#include <algorithm>
#include <array>

#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/sum/sum.h"

namespace retrace {
namespace {

constexpr int kMaxInputs = 3;

// Union of two canonical label lists: S and U are matched in order of occurrence.
Labels merge_labels(const Labels& a, const Labels& b) {
  Labels merged;
  for (char label : {'B', 'T', 'S', 'C', 'U'}) {
    const auto in_a = std::count(a.text().begin(), a.text().end(), label);
    const auto in_b = std::count(b.text().begin(), b.text().end(), label);
    for (auto i = std::max(in_a, in_b); i > 0; --i) merged.push_back(label);
  }
  return merged;
}

// Gives x the axes of `labels`, those that it lacks with size 1.
Tensor with_axes(const Tensor& x, const Labels& labels, Place place) {
  if (x.spec().labels == labels) return x;
  Shape shape;
  int next = 0;
  for (char label : labels.text()) {
    const bool present = next < x.rank() && x.spec().labels[next] == label;
    shape.push_back(present ? x.shape()[next] : 1);
    next += present;
  }
  return reshape(x, shape, labels.text(), place);
}

double read_number(const KernelInput& input, int64_t i) {
  switch (input.spec->type) {
    case DType::f32: return static_cast<const float*>(input.data)[i];
    case DType::f64: return static_cast<const double*>(input.data)[i];
    case DType::i32: return static_cast<const int32_t*>(input.data)[i];
    case DType::u8:
    case DType::boolean: break;
  }
  return static_cast<const uint8_t*>(input.data)[i];
}

int32_t read_integer(const KernelInput& input, int64_t i) {
  if (input.spec->type == DType::i32) return static_cast<const int32_t*>(input.data)[i];
  return static_cast<const uint8_t*>(input.data)[i];
}

void write_integer(const KernelOutput& output, int64_t i, int32_t value) {
  switch (output.spec->type) {
    case DType::i32: static_cast<int32_t*>(output.data)[i] = value; return;
    case DType::u8: static_cast<uint8_t*>(output.data)[i] = static_cast<uint8_t>(value); return;
    default: static_cast<uint8_t*>(output.data)[i] = value != 0;
  }
}

void write_number(const KernelOutput& output, int64_t i, double value) {
  switch (output.spec->type) {
    case DType::f32: static_cast<float*>(output.data)[i] = static_cast<float>(value); return;
    case DType::f64: static_cast<double*>(output.data)[i] = value; return;
    default: static_cast<uint8_t*>(output.data)[i] = value != 0;
  }
}

// Element offsets of each input for ascending output elements.
class BroadcastIndex {
 public:
  BroadcastIndex(const KernelCall& call) : shape_(call.outputs[0].spec->shape), count_(call.inputs.size()) {
    for (size_t n = 0; n < count_; ++n) {
      const Shape& shape = call.inputs[n].spec->shape;
      const Shape strides = row_major_strides(shape);
      for (int i = 0; i < shape_.rank(); ++i) {
        const int own = i - (shape_.rank() - shape.rank());
        strides_[n].push_back(own < 0 || shape[own] == 1 ? 0 : strides[own]);
      }
    }
    for (int i = 0; i < shape_.rank(); ++i) index_.push_back(0);
  }
  int64_t offset(size_t input) const { return offsets_[input]; }
  void advance() {
    for (int i = shape_.rank() - 1; i >= 0; --i) {
      for (size_t n = 0; n < count_; ++n) offsets_[n] += strides_[n][i];
      if (++index_[i] < shape_[i]) return;
      for (size_t n = 0; n < count_; ++n) offsets_[n] -= strides_[n][i] * shape_[i];
      index_[i] = 0;
    }
  }

 private:
  Shape shape_, index_;
  size_t count_;
  std::array<Shape, kMaxInputs> strides_;
  std::array<int64_t, kMaxInputs> offsets_{};
};

void check_inputs_exist(const Op& op, std::initializer_list<Tensor> inputs, Place place) {
  for (const auto& input : inputs)
    if (!input.defined()) check_defined(op.name, input, place);
}

std::string texts_of(std::initializer_list<Tensor> inputs) {
  std::string all;
  for (const auto& input : inputs) all += (all.empty() ? "" : " and ") + input.spec().text();
  return all;
}

Tensor aligned_call(const Op& op, std::initializer_list<Tensor> inputs, const Labels& all, Place place) {
  std::array<Tensor, kMaxInputs> aligned;
  std::copy(inputs.begin(), inputs.end(), aligned.begin());
  for (auto& input : aligned)
    if (input.defined() && !input.spec().labels.empty()) input = with_axes(input, all, place);
  return record(op, {}, std::span(aligned).first(inputs.size()), place)[0];
}

}  // namespace

Tensor pointwise(const Op& op, std::initializer_list<Tensor> inputs, Place place) {
  check_inputs_exist(op, inputs, place);
  Labels all;
  bool mixed = false;
  for (const auto& input : inputs) {
    const Labels& labels = input.spec().labels;
    if (labels.empty()) continue;
    mixed |= !all.empty() && !(all == labels);
    all = all.empty() ? labels : merge_labels(all, labels);
  }
  if (!mixed) return record_one(op, {}, inputs, place);
  try {
    return aligned_call(op, inputs, all, place);
  } catch (Error& error) {  // with the shapes that were given, not the aligned ones
    if (error.code() == 135) error.got(texts_of(inputs));
    throw;
  }
}

TensorSpec infer_broadcast(const InferCall& call, DType type) {
  TensorSpec result{type, call.inputs[0].shape, {}, {}};
  for (const auto& input : call.inputs) {
    Shape merged;
    if (!broadcast_shapes(result.shape, input.shape, merged)) {
      std::string all;
      for (const auto& spec : call.inputs) all += (all.empty() ? "" : " and ") + spec.text();
      op_error(call, 135, "the sizes of the arguments do not fit", all,
               "equal sizes, or 1, for each axis (labelled axes by label, others from the last)");
    }
    result.shape = merged;
  }
  for (const auto& input : call.inputs) {
    if (result.labels.empty() && input.shape.rank() == result.shape.rank()) result.labels = input.labels;
    if (result.part.whole == 0) result.part = input.part;
  }
  for (const auto& input : call.inputs)
    if (!input.labels.empty() && input.shape.rank() < result.shape.rank())
      op_error(call, 136, "an unlabelled argument has more axes than a labelled one", input.text(),
               fmt::format("at most {} axes, as in the labelled argument", input.shape.rank()),
               "give it labels, or remove the labels of the other");
  return result;
}

std::vector<TensorSpec> infer_pointwise(const InferCall& call) {
  for (size_t i = 1; i < call.inputs.size(); ++i) check_same_type(call, static_cast<int>(i), "the other argument");
  return {infer_broadcast(call, call.inputs[0].type)};
}

std::vector<TensorSpec> infer_pointwise_float(const InferCall& call) {
  check_float(call, 0, "x");
  return infer_pointwise(call);
}

std::vector<TensorSpec> infer_comparison(const InferCall& call) {
  auto specs = infer_pointwise(call);
  specs[0].type = DType::boolean;
  return specs;
}

void run_pointwise(const Op& op, const KernelCall& call) {
  const int64_t count = call.outputs[0].spec->count();
  const size_t arity = call.inputs.size();
  const bool integers = op.integer && std::none_of(call.inputs.begin(), call.inputs.end(),
                                                   [](const KernelInput& input) { return is_float(input.spec->type); });
  ensure(arity <= kMaxInputs && (integers || op.rule), "a pointwise op has a rule for its types");
  BroadcastIndex index(call);
  for (int64_t i = 0; i < count; ++i, index.advance()) {
    if (integers) {
      int32_t in[kMaxInputs] = {};
      for (size_t n = 0; n < arity; ++n) in[n] = read_integer(call.inputs[n], index.offset(n));
      write_integer(call.outputs[0], i, op.integer(in));
    } else {
      double in[kMaxInputs] = {}, out = 0;
      for (size_t n = 0; n < arity; ++n) in[n] = read_number(call.inputs[n], index.offset(n));
      const double* pointers[kMaxInputs] = {in, in + 1, in + 2};
      op.rule->reference(pointers, &out, 1);
      write_number(call.outputs[0], i, out);
    }
  }
}

Tensor sum_to(const Tensor& gradient, const Tensor& like, Place place) {
  if (gradient.shape() == like.shape())
    return gradient.spec().labels == like.spec().labels ? gradient
                                                        : reshape(gradient, like.shape(), like.labels(), place);
  Shape axes;
  const int extra = gradient.rank() - like.rank();
  for (int i = 0; i < gradient.rank(); ++i)
    if (i < extra || (like.shape()[i - extra] == 1 && gradient.shape()[i] != 1)) axes.push_back(i);
  const Tensor summed = axes.empty() ? gradient : sum(gradient, axes, {}, place);
  return reshape(summed, like.shape(), like.labels(), place);
}

}  // namespace retrace
