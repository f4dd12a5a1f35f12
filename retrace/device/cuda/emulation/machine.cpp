#include "retrace/device/cuda/emulation/machine.h"

#include <fmt/format.h>

#include <cstring>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/options.h"
#include "retrace/base/sanitizers.h"

namespace retrace::cuda::emulation {
namespace {

size_t product(const Dim& d) { return size_t{d.x} * d.y * d.z; }

}  // namespace

EmulatedMachine::EmulatedMachine() {
  emulated_machine = this;
  checks = !RT_SANITIZED;
  const auto order = environment(EnvironmentVariable::cuda_emulation_order);
  if (order == "descending") set_order(Order::descending, 0);
  if (order.empty() || order == "ascending" || order == "descending") return;
  set_order(Order::seeded,
            static_cast<uint64_t>(environment_number(EnvironmentVariable::cuda_emulation_order, 0, 0x7fffffff, 0)));
}

// Never destroyed: tensors may outlive every static.
EmulatedMachine& EmulatedMachine::instance() {
  static EmulatedMachine& machine = *new EmulatedMachine;
  return machine;
}

void EmulatedMachine::select(unsigned number) {
  execution_.thread = number;
  thread = positions_[number];
}

void EmulatedMachine::prepare(const EmulatedKernel& kernel, const Launch& launch) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::internal, 990, fmt::format("kernel {}: a launch that a device would refuse", kernel.name))
        .got(what);
  };
  execution_ = {kernel.name,
                {launch.threads.x, launch.threads.y, launch.threads.z},
                {launch.blocks.x, launch.blocks.y, launch.blocks.z},
                0,
                0,
                0};
  const size_t threads = product(launch.threads), count = product(launch.blocks);
  if (threads == 0 || threads > kernel.most_threads || launch.threads.z > 64)
    refuse(fmt::format("{} threads a block; it allows 1 to {}", threads, kernel.most_threads));
  if (count == 0 || launch.blocks.x > 0x7fffffff || launch.blocks.y > 65535 || launch.blocks.z > 65535)
    refuse(fmt::format("{} x {} x {} blocks", launch.blocks.x, launch.blocks.y, launch.blocks.z));
  if (launch.shared_bytes > Checker::kSharedCapacity)
    refuse(fmt::format("{} bytes of shared memory; a block has {}", launch.shared_bytes, Checker::kSharedCapacity));
  if (launch.arguments.size() != kernel.argument_bytes)
    refuse(fmt::format("{} bytes of arguments; it takes {}", launch.arguments.size(), kernel.argument_bytes));
  execution_.threads = static_cast<unsigned>(threads);
  block_threads = execution_.block_threads;
  blocks = execution_.blocks;
  kernel_ = &kernel;
  arguments_ = launch.arguments;
  shared_bytes_ = launch.shared_bytes;
  async_.assign(threads, AsyncCopies());
  positions_.resize(threads);
  for (size_t i = 0; i < threads; ++i) positions_[i] = position(i, block_threads);
}

void EmulatedMachine::run(const EmulatedKernel& kernel, const Launch& launch, const Region& region, Cells& cells,
                          LaunchUses* uses) {
  const FloatingPointScope scope;
  prepare(kernel, launch);
  checker_.begin_launch(region, cells, shared_memory_->bytes);
  checker_.set_uses(uses);
  std::vector<unsigned> order;
  scheduler_.arrange(order, static_cast<unsigned>(product(launch.blocks)));
  for (const unsigned number : order) {
    execution_.block = number;
    block = position(number, blocks);
    checker_.begin_block();
    if (async_used_) async_.assign(execution_.threads, AsyncCopies());
    async_used_ = false;
    scheduler_.run_block(*this);
  }
}

void EmulatedMachine::outside_of_part(long long i, long long count) {
  execution_.fail(991, "an access outside of a part of shared memory", fmt::format("element {} of {}", i, count));
}

std::byte* EmulatedMachine::shared_part(const void* before, size_t bytes) {
  const auto* const end = static_cast<const std::byte*>(before);
  const size_t begin = end ? (static_cast<size_t>(end - shared_memory_->bytes) + 15) / 16 * 16 : 0;
  if (begin + bytes > shared_bytes_)
    execution_.fail(992, "more shared memory than the launch gave",
                    fmt::format("{} bytes at offset {}; the launch gave {}", bytes, begin, shared_bytes_));
  return shared_memory_->bytes + begin;
}

void EmulatedMachine::async_copy(void* to, const void* from, unsigned bytes, bool valid) {
  async_used_ = true;
  auto& mine = async_[execution_.thread];
  if (checks) {
    checker_.pending(to, bytes);
    if (valid) checker_.global(from, bytes, Access::read);
  }
  mine.waiting.push_back({to, from, bytes, mine.groups, valid});
}

void EmulatedMachine::async_commit() {
  async_used_ = true;
  ++async_[execution_.thread].groups;
}

void EmulatedMachine::async_wait(unsigned newest) {
  auto& mine = async_[execution_.thread];
  const auto arrived = [&](const AsyncCopy& copy) { return copy.group + newest < mine.groups; };
  for (const auto& copy : mine.waiting) {
    if (!arrived(copy)) continue;
    if (checks) {
      checker_.shared(copy.to, copy.bytes, Access::write);
      if (copy.valid) checker_.global(copy.from, copy.bytes, Access::read);
    }
    if (copy.valid)
      std::memcpy(copy.to, copy.from, copy.bytes);
    else
      std::memset(copy.to, 0, copy.bytes);
  }
  std::erase_if(mine.waiting, arrived);
}

}  // namespace retrace::cuda::emulation
