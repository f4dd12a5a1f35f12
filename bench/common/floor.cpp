#include "bench/common/floor.h"

#include <algorithm>
#include <utility>

#include "bench/common/probe.h"
#include "retrace/trace/op.h"

namespace retrace::bench {
namespace {

// Pairs of (output, tap) along one axis that lie inside of the image.
double taps_inside(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  int64_t count = 0;
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t i = o * stride + k * dilation - pad;
      count += i >= 0 && i < in;
    }
  return static_cast<double>(count);
}

double convolution_operations(const Attributes& a, const Shape& image, const Shape& weights, const Shape& result) {
  const Shape &stride = a.list("stride"), &dilation = a.list("dilation"), &padding = a.list("padding");
  const double rows = taps_inside(image[1], result[1], weights[0], stride[0], dilation[0], padding[0]);
  const double columns = taps_inside(image[2], result[2], weights[1], stride[1], dilation[1], padding[2]);
  return 2.0 * rows * columns * static_cast<double>(image[0] * weights[2] * weights[3]);
}

}  // namespace

double operations_of(const Trace& trace, const Node& node) {
  const auto name = node.op->name;
  if (name == "row_chain" || name == "sample_chain") {
    double sum = 0;
    for (const Node& inner : node.body->trace.nodes) sum += operations_of(node.body->trace, inner);
    return sum;
  }
  if (name != "matmul" && name.substr(0, 6) != "conv2d") return 0;
  std::vector<TensorSpec> inputs;  // its own; a fused chain's follow
  for (size_t i = 0; i < 2; ++i) inputs.push_back(trace.values[static_cast<size_t>(node.inputs[i])]);
  const Shape &first = inputs[0].shape, &second = inputs[1].shape;
  const Shape out = node.op->infer({*node.op, node.attributes, inputs, node.place})[0].shape;
  if (name == "conv2d") return convolution_operations(node.attributes, first, second, out);
  if (name == "conv2d_input_gradient") return convolution_operations(node.attributes, out, second, first);
  if (name == "conv2d_filter_gradient") return convolution_operations(node.attributes, first, out, second);
  const int64_t depth = first[first.rank() - (node.attributes.integer("transpose_a") ? 2 : 1)];
  return 2.0 * static_cast<double>(out.count() * depth);
}

namespace {

// Bytes of the values that enter or leave a trace; each is handed out once.
class Traffic {
 public:
  explicit Traffic(const Trace& trace) : trace_(trace), bytes_(trace.values.size()) {
    for (const Node& node : trace.nodes)  // inputs that nobody reads count nothing
      for (ValueId id : node.inputs)
        if (const size_t at = root(id); trace.producers[at] < 0) count(id);
    for (ValueId id : trace.outputs) count(id);
  }
  double take(ValueId id) { return std::exchange(bytes_[root(id)], 0.0); }
  double take_all() {
    double sum = 0;
    for (double& bytes : bytes_) sum += std::exchange(bytes, 0.0);
    return sum;
  }

 private:
  void count(ValueId id) { bytes_[root(id)] = static_cast<double>(trace_.values[static_cast<size_t>(id)].bytes()); }
  size_t root(ValueId id) const {
    for (;;) {
      const int32_t producer = trace_.producers[static_cast<size_t>(id)];
      if (producer < 0 || !trace_.nodes[static_cast<size_t>(producer)].op->view) return static_cast<size_t>(id);
      id = trace_.nodes[static_cast<size_t>(producer)].inputs[0];
    }
  }
  const Trace& trace_;
  std::vector<double> bytes_;
};

}  // namespace

std::vector<Work> unavoidable_work(const Trace& planned) {
  std::vector<Work> work;
  Traffic traffic(planned);
  for (const Node& node : planned.nodes) {
    const double operations = operations_of(planned, node);
    if (operations == 0) continue;
    Work one{operations, 0};
    for (ValueId id : node.inputs) one.bytes += traffic.take(id);
    for (int i = 0; i < node.output_count; ++i) one.bytes += traffic.take(node.first_output + i);
    work.push_back(one);
  }
  work.push_back({0, traffic.take_all()});
  return work;
}

Work total(const std::vector<Work>& work) {
  Work sum;
  for (const Work& one : work) sum.operations += one.operations, sum.bytes += one.bytes;
  return sum;
}

double floor_seconds(const std::vector<Work>& work, double peak) {
  const double rate = bandwidth(static_cast<int64_t>(total(work).bytes));
  double seconds = 0;
  for (const Work& one : work) seconds += std::max(one.operations / peak, one.bytes / rate);
  return seconds;
}

}  // namespace retrace::bench
