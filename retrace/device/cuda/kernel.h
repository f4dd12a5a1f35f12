#pragma once
// The language of kernels: .cu files of op folders and generated sources include this, rule headers
// (retrace/base/scalar.h) and headers of argument structs, and nothing else. Three meanings of one text:
//   - nvcc, and NVRTC, which has no standard headers: kernel_device.h;
//   - the host compiler with RETRACE_CUDA_EMULATION: kernel_host.h, where every access is checked.
// No kernel asks which one it is. All names are in retrace::cuda; kernels may stand in any namespace.
//
//   struct ScaleArguments { Global<const float> x; Global<float> y; float factor; long long count; };
//   RT_KERNEL(scale, ScaleArguments, a) {
//     const unsigned i = element_number();
//     if (i < a.count) a.y[i] = a.factor * a.x[i];
//   }
//
// RT_KERNEL(name, Arguments, a)
//                           a kernel; `a` is its one argument, a const struct of at most 4000 bytes. Names of kernels
//                           are unique in the program; namespaces do not count.
// RT_KERNEL_BOUNDS(name, threads, Arguments, a)
//                           the same, for blocks of at most `threads` threads.
// RT_KERNEL_RESIDENT(name, threads, blocks, Arguments, a)
//                           the same, with registers for `blocks` blocks at a time on a processor.
// RT_DEVICE                 before every function that kernels call.
// RT_UNROLL                 before a loop whose number of turns is a constant.
// RT_LOOP                   before a loop that is to stay one, to save registers.
//
// thread(), block(), block_threads(), blocks()
//                           a Position: where this thread stands, and how many there are.
// thread_anew()             thread().x, read again where it stands: no register keeps it in between.
// element_number()          this thread's place in a grid of one dimension.
// shared<T>(n)              n elements of the block's dynamic shared memory, at its start; shared<T>(n, before): behind
//                           the part `before`. Every part begins at a multiple of 16 bytes. What they hold is undefined
//                           until it is written. p[i] and p + i as for Global<T>.
// barrier()                 every thread of the block must come, none may have left the kernel, and all come to the
//                           same call. Orders what was read and written before it with what is afterwards.
// shuffle(v, lane), shuffle_down(v, d), shuffle_xor(v, mask)
//                           v (float, int, unsigned) of another lane of the warp; shuffle_down beyond lane 31: one's
//                           own. All 32 lanes must come. Orders no memory.
// load4(p, i), store4(p, i, v)
//                           four floats at p[i] .. p[i + 3], which lie at a multiple of 16 bytes.
// load2(p, i)               two floats of shared memory at a multiple of 8 bytes.
// load_cached(p, i)         p[i] of memory that nobody writes while the kernel runs, through the read-only cache.
// async_copy<bytes>(to, from, valid = true)
//                           4, 8 or 16 bytes from global to shared memory, both aligned to `bytes`; zeros, and `from`
//                           is not read, unless valid. async_commit() closes a group of this thread's copies;
//                           async_wait<n>() returns when all but its n newest groups are there: for this thread, for
//                           others after a barrier().
// multiply_tf32<m, n>(sums, a, b, place)
//                           the sums of m x n tiles take the products of m tiles of A (16 rows, 8 terms) and n of B (8
//                           terms, 8 columns), in TF32 with f32 sums. Of lane l, with g = l / 4 and t = l % 4: a[i] is
//                           A at (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4); b[j] is B at (t, g), (t + 4, g); and
//                           sums[place(i, j, e)] for e = 0 .. 3 the sum at (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8,
//                           2t + 1). The 13 lowest bits of a and b are ignored. The order and the roundings of a sum
//                           are the device's own: kernels of the mode fast alone may call it. All 32 lanes must come.
// pair_of_bf16(low, high)   two numbers rounded to bf16, to the nearest, ties to even; `low` in the lower 16 bits.
// multiply_bf16<m, n>(sums, a, b, place)
//                           as multiply_tf32(), for tiles of 16 terms in bf16: a[i] is A at (g, 2t), (g + 8, 2t),
//                           (g, 2t + 8), (g + 8, 2t + 8), each in a pair with that of the next term, and b[j] is B at
//                           (2t, g), (2t + 8, g) in such pairs.
// atomic_add(p, i, v)       p[i] += v at once, for int, unsigned and unsigned long long, in global or shared memory;
//                           returns what was there. Never for floats: their sum would depend on the order.
// atomic_minimum(p, i, v), atomic_exchange_if(p, i, expected, v)
//                           p[i] = v at once, if v is less, or p[i] is what is expected; for unsigned long long in
//                           global memory; returns what was there.
// report_error(target, position, value)
//                           the host throws the error of a value, when it waits for the device next (value_errors.h).
//                           Of several positions in a launch the lowest is told, of several launches the first. The
//                           kernel goes on, with whatever result.
// fence()                   what this thread has written, or has seen through barrier(), is visible to other blocks
//                           before anything that it writes later.

#include "retrace/device/cuda/global.h"
#include "retrace/device/cuda/kernel_errors.h"

namespace retrace::cuda {

struct Position {
  unsigned x, y, z;
};

struct alignas(8) Float2 {
  float x, y;
};
struct alignas(16) Float4 {
  float x, y, z, w;
};

}  // namespace retrace::cuda

#ifdef __CUDACC__
#include "retrace/device/cuda/kernel_device.h"
#else
#include "retrace/device/cuda/kernel_host.h"
#endif

namespace retrace::cuda {

RT_DEVICE unsigned element_number() { return block().x * block_threads().x + thread().x; }

RT_DEVICE void report_error(const ErrorTarget& target, unsigned position, int value) {
  const unsigned long long first = atomic_exchange_if(target.record, 0, 0, target.source);
  if (first != 0 && first != target.source) return;
  const auto at = static_cast<unsigned long long>(position);
  atomic_minimum(target.record, 1, at << 32 | static_cast<unsigned>(value));
  raise_flag(target.reported);
}

}  // namespace retrace::cuda
