#include "retrace/ops/reduce/reduce_launch.h"

#include <algorithm>
#include <bit>

#include "retrace/base/range.h"
#include "retrace/ops/reduce/reduce_cuda_arguments.h"

namespace retrace {
namespace {

constexpr int64_t kReduceLaunchThreads = 256;  // of a block, at least
constexpr int64_t kMostItems = 16;             // of x, of one thread
constexpr int64_t kMostParts = 64;             // of one thread
constexpr int64_t kItemsOfOnePass = 4;         // so many rather than a second pass
constexpr int64_t kBusyThreads = 1 << 16;      // as many as fill a device; twice as many where blocks are large

int64_t power_above(int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))); }
int64_t power_below(int64_t n) { return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))); }
int64_t width_of(const ReduceShape& shape) { return shape.by_column ? shape.channels : 16; }

struct Pass {
  int64_t threads, item, items, lanes, strips, per, runs;
  int64_t combine = 0;  // parts that each thread of the last block takes; 0: there is one run, or another pass
};

int64_t rows_of_reduce_launch(const Pass& pass) { return pass.threads / (pass.lanes * pass.strips); }
int64_t chunks_of(const ReduceShape& shape, const Pass& pass) { return divide_up(width_of(shape), pass.lanes); }

int64_t combine_of(const ReduceShape& shape, const Pass& pass) {
  const int64_t parts = power_above(divide_up(pass.runs, pass.strips));
  const int64_t counters = divide_up(shape.outer, rows_of_reduce_launch(pass)) * chunks_of(shape, pass);
  return pass.runs > 1 && parts <= kMostParts && counters <= cuda::Launches::kCounters ? parts : 0;
}

// Large blocks leave few parts to the last one of them; where there are few items, small blocks keep more processors
// busy.
int64_t threads_of(int64_t items, int64_t most) {
  return std::min(most, items < kBusyThreads / 2 ? kReduceLaunchThreads
                        : items < kBusyThreads   ? 2 * kReduceLaunchThreads
                                                 : 4 * kReduceLaunchThreads);
}

std::vector<Pass> passes_of(const ReduceShape& shape, int64_t most_threads) {
  std::vector<Pass> passes;
  const int64_t width = width_of(shape), lanes = std::min<int64_t>(32, power_above(width));
  const int64_t busy = most_threads > kReduceLaunchThreads ? 2 * kBusyThreads : kBusyThreads;
  int64_t item = shape.by_column ? 16 : 256;
  do {
    Pass pass{kReduceLaunchThreads, item, std::max<int64_t>(1, divide_up(shape.positions, item)), lanes, 1, 1, 1};
    pass.threads = threads_of(shape.outer * width * pass.items, most_threads);
    pass.strips = std::min(power_above(pass.items), pass.threads / lanes);
    const int64_t wanted = power_above(divide_up(pass.items, pass.strips));
    const int64_t threads = std::max<int64_t>(1, shape.outer * width * pass.items / busy);
    const int64_t most = passes.empty() ? std::min(kMostItems, power_below(threads)) : kMostParts;
    pass.per = wanted <= std::max(most, kItemsOfOnePass) ? wanted : most;
    pass.runs = divide_up(pass.items, pass.strips * pass.per);
    pass.combine = combine_of(shape, pass);
    item *= pass.strips * pass.per;
    passes.push_back(pass);
  } while (passes.back().runs > 1 && passes.back().combine == 0);
  return passes;
}

int64_t bytes_of_runs(const ReduceShape& shape, const Pass& pass, int64_t value_bytes) {
  return pass.runs == 1 ? 0 : divide_up(shape.outer * pass.runs * width_of(shape) * value_bytes, 64) * 64;
}

cuda::ReduceAxes axes_of(const ReduceShape::Dimensions& dimensions) {
  cuda::ReduceAxes axes{static_cast<int>(dimensions.count), {}, {}};
  for (size_t i = 0; i < dimensions.count; ++i)
    axes.size[i] = cuda::Divisor(static_cast<unsigned>(dimensions.all[i].size)),
    axes.stride[i] = dimensions.all[i].stride;
  return axes;
}

}  // namespace

int64_t cuda_reduce_workspace(const ReduceShape& shape, int64_t value_bytes, int64_t most_threads) {
  if (shape.outer * shape.channels == 0) return 0;
  int64_t bytes = 0;
  for (const Pass& pass : passes_of(shape, most_threads)) bytes += bytes_of_runs(shape, pass, value_bytes);
  return bytes;
}

int64_t cuda_reduce_workspace(const InferCall& call, int64_t value_bytes) {
  return cuda_reduce_workspace(ReduceShape(call.inputs[0].shape, call.attributes.list("axes")), value_bytes,
                               kReduceLaunchThreads);
}

std::vector<CudaReducePass> cuda_reduce_passes(const ReduceShape& shape, int64_t value_bytes, int64_t most_threads,
                                               std::string_view name, void* workspace, unsigned* counters) {
  std::vector<CudaReducePass> all;
  if (shape.outer * shape.channels == 0) return all;
  require_cuda_numbers(shape.outer * shape.positions * shape.channels, name);
  cuda::ReduceArguments a{};
  a.counters = counters, a.by_run = cuda::Divisor(static_cast<unsigned>(shape.run));
  a.outer = shape.outer, a.positions = shape.positions, a.channels = shape.channels, a.run = shape.run;
  a.outer_axes = axes_of(shape.outer_dimensions), a.segment_axes = axes_of(shape.segment_dimensions);
  char* space = static_cast<char*>(workspace);
  for (const Pass& pass : passes_of(shape, most_threads)) {
    a.parts = a.runs_out;
    a.runs_out = space;
    space += bytes_of_runs(shape, pass, value_bytes);
    a.item = pass.item, a.items = pass.items;
    a.lanes = static_cast<int>(pass.lanes), a.strips = static_cast<int>(pass.strips),
    a.per = static_cast<int>(pass.per), a.combine = static_cast<int>(pass.combine);
    a.lane_bits = std::countr_zero(static_cast<unsigned>(a.lanes));
    a.strip_bits = std::countr_zero(static_cast<unsigned>(a.strips));
    a.chunks = cuda::Divisor(static_cast<unsigned>(chunks_of(shape, pass)));
    a.runs = cuda::Divisor(static_cast<unsigned>(pass.runs));
    const unsigned blocks =
        cuda_grid(divide_up(shape.outer, rows_of_reduce_launch(pass)), chunks_of(shape, pass), pass.runs, name);
    all.push_back(
        {a, blocks, static_cast<unsigned>(pass.threads), static_cast<size_t>(pass.threads * value_bytes + 16)});
  }
  return all;
}

void add_reduction(const CudaCall& call, const CudaReduction& kernels, const std::array<void*, 3>& out) {
  const ReduceShape shape(call.inputs[0].spec->shape, call.attributes.list("axes"));
  const auto kernel = shape.by_column ? kernels.columns : kernels.rows;
  for (auto& pass : cuda_reduce_passes(shape, kernels.value_bytes, kReduceLaunchThreads, kernel, call.workspace,
                                       call.launches.counters())) {
    pass.arguments.x = call.inputs[0].data;
    std::copy(out.begin(), out.end(), pass.arguments.out);
    call.launches.add(kernel, {pass.blocks}, {pass.threads}, pass.arguments, pass.shared_bytes);
  }
}

}  // namespace retrace
