#include "retrace/data/batch_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/data/batch_format.h"
#include "retrace/data/checked_source.h"
#include "retrace/data/stack.h"
#include "retrace/ops/copy/strided_copy.h"

namespace retrace {

BatchMaker::BatchMaker(std::shared_ptr<const DataSource> source, const MiniBatchQueueOptions& options, int outputs)
    : source_(std::move(source)),
      function_(options.mini_batch_function),
      formats_(options.formats),
      casts_(options.casts),
      outputs_(outputs) {}

namespace {

// The first `length` entries along axis 1, of all rows.
Tensor first_entries(const Tensor& rows, int64_t length) {
  if (rows.rank() < 2 || rows.shape()[1] <= length) return rows;
  TensorSpec spec = rows.spec();
  spec.shape[1] = length;
  BlankTensor blank(spec);
  strided_copy(size_of(spec.type), spec.shape, rows.data(), row_major_strides(rows.shape()), blank.bytes,
               row_major_strides(spec.shape));
  return blank.tensor;
}

}  // namespace

std::vector<Tensor> BatchMaker::make(std::span<const int64_t> order, Range samples, int64_t pass, int count,
                                     int64_t length) const {
  const auto indices = order.subspan(static_cast<size_t>(samples.first), static_cast<size_t>(samples.count));
  std::vector<Tensor> outputs = !function_        ? checked_gather(*source_, indices, pass, count)
                                : indices.empty() ? call_for_none(order, pass)
                                                  : call_function(indices, pass);
  outputs.resize(static_cast<size_t>(count));
  for (int i = 0; i < count && length >= 0 && !function_; ++i)
    if (source_->has_length(i))
      outputs[static_cast<size_t>(i)] = first_entries(outputs[static_cast<size_t>(i)], length);
  for (int i = 0; i < count; ++i) outputs[static_cast<size_t>(i)] = formed(outputs[static_cast<size_t>(i)], i);
  return outputs;
}

std::vector<Tensor> BatchMaker::make_rows(std::span<const int64_t> indices) const {
  std::vector<Tensor> outputs = checked_gather(*source_, indices, 0, outputs_);
  for (int i = 0; i < outputs_; ++i) outputs[static_cast<size_t>(i)] = formed(outputs[static_cast<size_t>(i)], i);
  return outputs;
}

std::vector<Tensor> BatchMaker::call_function(std::span<const int64_t> indices, int64_t pass) const {
  std::vector<std::vector<Tensor>> lists(static_cast<size_t>(source_->variables()));
  for (int64_t index : indices) {
    const Observation observation = checked_get(*source_, index, pass);
    for (size_t v = 0; v < lists.size(); ++v) lists[v].push_back(observation[v]);
  }
  std::vector<Tensor> outputs = function_(lists);
  if (static_cast<int>(outputs.size()) != outputs_)
    throw Error(ErrorKind::usage, 329,
                fmt::format("mini-batch queue: the mini_batch_function returned {} tensors", outputs.size()))
        .expected(fmt::format("{}, one for each output", outputs_));
  return outputs;
}

// For a worker without samples: the function's outputs for some observation, with that sample cut away.
std::vector<Tensor> BatchMaker::call_for_none(std::span<const int64_t> order, int64_t pass) const {
  std::vector<Tensor> outputs = call_function(order.first(1), pass);
  for (auto& output : outputs) {
    if (output.rank() == 0) continue;
    const int axis = std::max(output.spec().labels.find('B'), 0);
    TensorSpec spec = output.spec();
    spec.shape[axis] = 0;
    output = BlankTensor(spec).tensor;
  }
  return outputs;
}

// Casts and permutes one output.
Tensor BatchMaker::formed(const Tensor& output, int number) const {
  const auto i = static_cast<size_t>(number);
  evaluate(output, {});  // a mini_batch_function may return what it only recorded
  Tensor tensor = output;
  if (!casts_.empty() && casts_[i]) tensor = converted(tensor, *casts_[i]);
  if (formats_.empty() || formats_[i].empty()) return tensor;
  return with_format(tensor, function_ ? formats_[i] : stacked_format(formats_[i]), {});
}

}  // namespace retrace
