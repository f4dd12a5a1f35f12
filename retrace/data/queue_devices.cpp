// A queue whose data are kept on devices.

#include <limits>

#include "retrace/data/batch_maker.h"
#include "retrace/data/checked_source.h"
#include "retrace/data/device_rows.h"
#include "retrace/data/mini_batch_order.h"
#include "retrace/data/mini_batch_queue.h"

namespace retrace {

// Whether each output goes to a CUDA device, and row i of it is made from observation i of a mini-batch alone.
bool MiniBatchQueue::delivers_rows() const {
  if (options_.mini_batch_function || !options_.buckets.empty() || !store_.source()->is_in_memory()) return false;
  if (store_.size() > std::numeric_limits<int32_t>::max()) return false;
  for (int i = 0; i < outputs_; ++i)
    if (device_of(i).id() == 0) return false;
  const std::vector<Tensor> none = checked_gather(*store_.source(), {}, 0, outputs_);
  for (size_t i = 0; i < options_.formats.size(); ++i) {
    const std::string& format = options_.formats[i];
    if (!format.empty() && (format.find('B') == std::string::npos || static_cast<int>(format.size()) < none[i].rank()))
      return false;
  }
  return true;
}

std::vector<Tensor> MiniBatchQueue::find_device_rows() {
  if (!delivers_rows()) return {};
  std::vector<DeviceOutput> wanted;
  for (int i = 0; i < outputs_; ++i) {
    const auto k = static_cast<size_t>(i);
    wanted.push_back({device_of(i).id(), options_.casts.empty() ? std::nullopt : options_.casts[k],
                      options_.formats.empty() ? "" : options_.formats[k]});
  }
  kept_ = DeviceRows::of(store_.source());
  return kept_->find(wanted, store_.size(),
                     [&](std::span<const int64_t> indices) { return maker_->make_rows(indices); });
}

std::vector<Tensor> MiniBatchQueue::gather_on_devices(Range samples, int outputs) {
  std::vector<Tensor> batch;
  const std::vector<int64_t>& indices = order_->indices();
  for (const Tensor& rows : std::span(*device_rows_).first(static_cast<size_t>(outputs))) {
    Tensor& order = device_orders_[rows.device().id()];
    if (!order.defined())
      order = Tensor::from(std::vector<int32_t>(indices.begin(), indices.end()), {size()}).to(rows.device());
    batch.push_back(gather_batch(rows, order, samples.first, samples.count));
  }
  return batch;
}

Device& MiniBatchQueue::device_of(int number) const {
  if (options_.devices.empty()) return cpu_device();
  return find_device(options_.devices[options_.devices.size() == 1 ? 0 : static_cast<size_t>(number)]);
}

}  // namespace retrace
