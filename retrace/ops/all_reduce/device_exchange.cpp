#include "retrace/ops/all_reduce/device_exchange.h"

#include <cstdint>

#include "retrace/device/cuda/launches.h"
#include "retrace/ops/all_reduce/exchange_cuda.h"

namespace retrace {
namespace {

constexpr unsigned kDeviceExchangeThreads = 256;
constexpr size_t kUnitsOfBlock = 4096, kMostBlocks = 256;  // of a part's copy

// Copies that are given to the device a launch for each CopyPartsArguments::kMost of them.
class PartCopies {
 public:
  explicit PartCopies(cuda::Runtime& runtime) : runtime_(runtime) {}
  void add(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return;
    parts_.push_back({to, from, bytes});
    if (parts_.size() == CopyPartsArguments<unsigned>::kMost) launch();
  }
  void launch() {
    const auto words = [](const Part& part) {
      return (reinterpret_cast<uintptr_t>(part.to) | reinterpret_cast<uintptr_t>(part.from) | part.bytes) % 4 == 0;
    };
    if (parts_.empty()) return;
    if (std::all_of(parts_.begin(), parts_.end(), words))
      launch_units<unsigned>("exchange_copy_4");
    else
      launch_units<unsigned char>("exchange_copy_1");
    parts_.clear();
  }

 private:
  struct Part {
    void* to;
    const void* from;
    size_t bytes;
  };
  template <class T>
  void launch_units(const char* kernel) {
    CopyPartsArguments<T> arguments{};
    size_t most = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      arguments.parts[i] = {parts_[i].from, parts_[i].to, parts_[i].bytes / sizeof(T)};
      most = std::max(most, parts_[i].bytes / sizeof(T));
    }
    const size_t blocks = std::min(kMostBlocks, (most + kUnitsOfBlock - 1) / kUnitsOfBlock);
    cuda::Launches launches(runtime_);
    launches.add(kernel, {static_cast<unsigned>(blocks), static_cast<unsigned>(parts_.size())},
                 {kDeviceExchangeThreads}, arguments);
    runtime_.launch(launches.all()[0]);
  }

  cuda::Runtime& runtime_;
  std::vector<Part> parts_;
};

// The additions of combine_runs, in its order, a launch for each AddRunsArguments::kMost of them.
template <class T>
void add_on_device(DeviceLink& link, const ExchangeLayout& layout, const char* kernel, char* memory) {
  AddRunsArguments<T> arguments{};
  arguments.runs = static_cast<void*>(memory + layout.take), arguments.sum = static_cast<void*>(memory + layout.result);
  arguments.count = layout.slice_bytes(layout.shape.split.worker) / sizeof(T);
  if (arguments.count == 0) return;
  const auto launch = [&] {
    cuda::Launches launches(link.runtime());
    launches.add(kernel, cuda::blocks_for(static_cast<int64_t>(arguments.count), kDeviceExchangeThreads),
                 {kDeviceExchangeThreads}, arguments);
    link.lane().launch(launches.all()[0]);
    arguments.steps = 0;
  };
  std::vector<unsigned short> items(layout.run_count);
  ensure(items.size() < 65536, "runs are numbered in 16 bits");
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<unsigned short>(i);
  combine_runs(layout.shape.split.all_runs(), items, [&](unsigned short left, unsigned short right) {
    if (arguments.steps == AddRunsArguments<T>::kMost) launch();
    arguments.left[arguments.steps] = left, arguments.right[arguments.steps++] = right;
  });
  launch();
}

}  // namespace

void DeviceExchange::start(const void* const* partials) {
  PartCopies copies(link_.runtime());
  layout_.pack(partials, memory_, [&](void* to, const void* from, size_t bytes) { copies.add(to, from, bytes); });
  copies.launch();
  packed_ = link_.lane().mark_device();
}

void DeviceExchange::travel(Group& group) {
  link_.lane().wait_for(*packed_);
  if (layout_.total > 0) {
    const auto first = layout_.first_round(memory_);
    link_.transport().exchange(group, first.sent, first.received, "all_reduce");
    add_runs();
  }
  const auto second = layout_.second_round(memory_);
  link_.transport().exchange(group, second.sent, second.received, "all_gather");
  link_.transport().settle(group);
  arrived_ = link_.lane().mark();
}

void DeviceExchange::add_runs() {
  if (layout_.shape.element == 4)
    add_on_device<float>(link_, layout_, "exchange_add_f32", memory_);
  else
    add_on_device<double>(link_, layout_, "exchange_add_f64", memory_);
}

void DeviceExchange::finish(void* const* outputs) {
  link_.lane().hold_device(*arrived_);
  PartCopies copies(link_.runtime());
  layout_.unpack(memory_, outputs, [&](void* to, const void* from, size_t bytes) { copies.add(to, from, bytes); });
  copies.launch();
}

}  // namespace retrace
