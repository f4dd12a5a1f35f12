// Kernels that use all of kernel.h, each with a mistake that it makes on request.
#include "retrace/device/cuda/emulation/kernels_test.h"
#include "retrace/device/cuda/kernel.h"

namespace retrace::cuda {
namespace {

RT_DEVICE int thread_number() { return static_cast<int>(thread().x); }
RT_DEVICE long long global_number() { return static_cast<long long>(block().x) * block_threads().x + thread().x; }

// The sum of 32 values by a tree, in lane 0.
RT_DEVICE float warp_sum(float value) {
  for (unsigned distance = 16; distance > 0; distance /= 2) value += shuffle_down(value, distance);
  return value;
}

}  // namespace

// y[block] = the sum of the block's 256 elements of x. Mistake: no barrier before the sums of the warps are read.
RT_KERNEL_BOUNDS(probe_tree_sum, 256, ProbeArguments, a) {
  const auto values = shared<float>(256);
  const auto sums = shared<float>(8, values);
  const int t = thread_number();
  values[t] = a.x[global_number()];
  barrier();
  const float sum = warp_sum(values[255 - t]);
  if (t % 32 == 0) sums[t / 32] = sum;
  if (!a.mistake) barrier();
  if (t == 0) {
    float total = 0;
    RT_UNROLL
    for (int i = 0; i < 8; ++i) total += sums[i];
    a.y[block().x] = total;
  }
}

// y[i] = x[i] for i < count. Mistake: one more.
RT_KERNEL(probe_copy, ProbeArguments, a) {
  const long long i = global_number();
  if (i < a.count + (a.mistake ? 1 : 0)) a.y[i] = load_cached(a.x, i);
}

// Reports elements below zero.
RT_KERNEL(probe_report, ReportArguments, a) {
  const unsigned i = element_number();
  if (i >= a.count) return;
  if (const int value = a.x[i]; value < 0) report_error(a.errors, i, value);
}

// As probe_copy, backwards through shared memory. Mistake: threads without an element leave before the barrier.
RT_KERNEL(probe_reverse, ProbeArguments, a) {
  const auto part = shared<float>(block_threads().x);
  const int t = thread_number();
  if (a.mistake && t >= a.count) return;
  if (t < a.count) part[t] = a.x[t];
  barrier();
  if (t < a.count) a.y[t] = part[a.count - 1 - t];
}

// Mistake: reads an element of shared memory that nobody has written.
RT_KERNEL(probe_written, ProbeArguments, a) {
  const auto part = shared<float>(64);
  const int t = thread_number();
  if (t < 32) part[t] = 1.0f;
  barrier();
  if (t == 0) a.y[0] = part[a.mistake ? 32 : 31];
}

// Blocks of four floats through shared memory, asynchronously; zeros from `count` on. Mistake: no wait.
RT_KERNEL(probe_async, ProbeArguments, a) {
  const auto part = shared<float>(4 * block_threads().x);
  const int at = 4 * thread_number();
  async_copy<16>(part + at, a.x + at, at < a.count);
  async_commit();
  if (!a.mistake) async_wait<0>();
  store4(a.y, at, load4(part, at));
}

// Two stages of copies: the older group is waited for alone. Mistake: the newer one is read as well.
RT_KERNEL(probe_async_stages, ProbeArguments, a) {
  const auto part = shared<float>(2 * block_threads().x);
  const int t = thread_number(), threads = static_cast<int>(block_threads().x);
  for (int stage = 0; stage < 2; ++stage) {
    async_copy<4>(part + (stage * threads + t), a.x + (stage * threads + t));
    async_commit();
  }
  async_wait<1>();
  a.y[t] = part[t];
  if (!a.mistake) async_wait<0>();
  a.y[threads + t] = part[threads + t];
}

// y[0] = the sum of x, a block's part each, added up by the block that comes last. Mistake: no fence.
RT_KERNEL(probe_last_block, ProbeArguments, a) {
  const auto last = shared<unsigned>(1);
  const int t = thread_number();
  const float sum = warp_sum(a.x[global_number()]);
  if (t == 0) {
    a.y[1 + block().x] = sum;
    if (!a.mistake) fence();
    last[0] = atomic_add(a.counter, 0, 1u) + 1 == blocks().x;
  }
  barrier();
  if (last[0] == 0u || t != 0) return;
  float total = 0;
  for (unsigned i = 0; i < blocks().x; ++i) total += a.y[1 + i];
  a.y[0] = total;
  a.counter[0] = 0;
}

// counter[x[i]] += 1, with atomics. Mistake: without.
RT_KERNEL(probe_histogram, ProbeArguments, a) {
  const long long i = global_number();
  if (i >= a.count) return;
  const int bin = static_cast<int>(a.x[i]);
  if (a.mistake)
    a.counter[bin] += 1u;
  else
    atomic_add(a.counter, bin, 1u);
}

// Bytes of the counters, each by its own thread, in place. Mistake: the neighbour's is read as well.
RT_KERNEL(probe_bytes, ProbeArguments, a) {
  const Global<unsigned char> bytes(static_cast<void*>(a.counter.pointer));
  const int t = thread_number();
  const unsigned value = bytes[a.mistake && t > 0 ? t - 1 : t];
  bytes[t] = static_cast<unsigned char>(value + 1u);
}

// A warp a row of 32; warps without a row leave. Mistake: the lanes of a row's second half leave.
RT_KERNEL(probe_rows, ProbeArguments, a) {
  const int t = thread_number(), row = t / 32;
  if (row >= a.count || (a.mistake && t % 32 >= 16)) return;
  float sum = a.x[t];
  for (unsigned mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  sum = shuffle(sum, 5);
  if (t % 32 == 31) a.y[row] = sum;
}

// Mistakes: beyond a part of shared memory, not aligned, more shared memory than there is.
RT_KERNEL(probe_part, ProbeArguments, a) {
  const auto part = shared<float>(32);
  const auto behind = shared<float>(32, part);
  const int t = thread_number();
  part[t] = 1.0f, behind[t] = 2.0f;
  a.y[t] = part[a.mistake ? t + a.count : t];
}
RT_KERNEL(probe_aligned, ProbeArguments, a) { store4(a.y, 0, load4(a.x, a.mistake ? 1 : 4)); }

// As probe_last_block, but every thread has a part that the last block reads; with count > 0 every thread has a fence,
// too. Mistake: no barrier before the atomic.
RT_KERNEL(probe_last_block_of_all, ProbeArguments, a) {
  const auto last = shared<unsigned>(1);
  const int t = thread_number();
  const long long i = global_number();
  a.y[1 + i] = 2.0f * a.x[i];
  if (a.count > 0) fence();
  if (!a.mistake) barrier();
  if (t == 0) {
    if (a.count == 0) fence();
    last[0] = atomic_add(a.counter, 0, 1u) + 1 == blocks().x;
  }
  barrier();
  if (last[0] == 0u || t != 0) return;
  float total = 0;
  for (unsigned part = 0; part < blocks().x * block_threads().x; ++part) total += a.y[1 + part];
  a.y[0] = total;
  a.counter[0] = 0;
}

// counter[0] = the number of threads. Mistake: no barrier behind the first value.
RT_KERNEL(probe_shared_count, ProbeArguments, a) {
  const auto count = shared<unsigned>(1);
  const int t = thread_number();
  if (t == 0) count[0] = 0;
  if (!a.mistake) barrier();
  atomic_add(count, 0, 1u);
  barrier();
  if (t == 0) a.counter[0] = count[0];
}

// Mistake: the cache for memory that stays is asked for what has just been written.
RT_KERNEL(probe_cached, ProbeArguments, a) {
  const int t = thread_number();
  a.y[t] = load_cached(a.x, t);
  if (a.mistake) a.y[t] = load_cached(a.y, t);
}

// y = y + the product of x's first 16 x 8 and of its next 8 x 8 elements, a tile of TF32. Mistake: a lane leaves.
RT_KERNEL(probe_tf32, ProbeArguments, a) {
  const int t = thread_number(), group = t / 4, rest = t % 4;
  if (a.mistake && t == 5) return;
  float left[1][4], right[1][2], sums[4];
  for (int e = 0; e < 4; ++e) left[0][e] = a.x[(group + e % 2 * 8) * 8 + rest + e / 2 * 4];
  for (int e = 0; e < 2; ++e) right[0][e] = a.x[128 + (rest + 4 * e) * 8 + group];
  const auto place = [&](int e) { return (group + e / 2 * 8) * 8 + 2 * rest + e % 2; };
  for (int e = 0; e < 4; ++e) sums[e] = a.y[place(e)];
  multiply_tf32(sums, left, right, [](int, int, int e) { return e; });
  for (int e = 0; e < 4; ++e) a.y[place(e)] = sums[e];
}

// The same with x's first 16 x 16 and next 16 x 8 elements, in bf16.
RT_KERNEL(probe_bf16, ProbeArguments, a) {
  const int t = thread_number(), group = t / 4, rest = t % 4;
  if (a.mistake && t == 5) return;
  unsigned left[1][4], right[1][2];
  float sums[4];
  for (int e = 0; e < 4; ++e) {
    const int at = (group + e % 2 * 8) * 16 + 2 * rest + e / 2 * 8;
    left[0][e] = pair_of_bf16(a.x[at], a.x[at + 1]);
  }
  for (int e = 0; e < 2; ++e) {
    const int at = 256 + (2 * rest + 8 * e) * 8 + group;
    right[0][e] = pair_of_bf16(a.x[at], a.x[at + 8]);
  }
  const auto place = [&](int e) { return (group + e / 2 * 8) * 8 + 2 * rest + e % 2; };
  for (int e = 0; e < 4; ++e) sums[e] = a.y[place(e)];
  multiply_bf16(sums, left, right, [](int, int, int e) { return e; });
  for (int e = 0; e < 4; ++e) a.y[place(e)] = sums[e];
}

// Mistake: every other thread waits in another branch.
RT_KERNEL(probe_branches, ProbeArguments, a) {
  if (a.mistake && thread_number() % 2 == 1)
    barrier();
  else
    barrier();
}

}  // namespace retrace::cuda
