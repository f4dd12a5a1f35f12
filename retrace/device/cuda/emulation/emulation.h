#pragma once
// A CUDA device on the host, for tests and examples: programs that link the library retrace_emulation get one with
// RETRACE_CUDA_EMULATION=1. It is there to find mistakes in kernels, which are Error(internal) that name kernel, block,
// threads and place:
//   - two threads of a block use one address, one of them writes, and no barrier stands between; the same for two
//     blocks of a launch, but for integer atomics, and but for what a block reads that knows by an atomic of others'
//     fence();
//   - accesses outside of a buffer, to a released one, beyond a part of shared memory, or not aligned;
//   - shared memory that is read before it is written, or while an async_copy() into it is not waited for;
//   - barriers and shuffles that not all threads reach;
//   - two launches of a graph that use the same memory, one of them writing, and no path of edges orders them.
// Threads run one after another, as do blocks, and the launches of a graph where edges leave them free, in an order
// that can be chosen: no result may depend on it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda::emulation {

enum class Order { ascending, descending, seeded };

// The order of launches in a graph that is made from now on, and of blocks, warps and lanes in every launch; before the
// first call, RETRACE_CUDA_EMULATION_ORDER: ascending (the default), descending or a number, which is a seed.
void set_order(Order order, uint64_t seed = 0);
// Tests of these checks: graphs that are made from now on lack edge number `edge`; -1: none.
void leave_out_edge(int64_t edge);
// The edges that the graph which was made last should have.
Edges newest_edges();
// Checks of accesses, on at first; off in builds with sanitizers, whose tests also run in one without. Off: launches
// take half the time or less, copies and barriers work as before.
void set_checks(bool on);

// A device of its own, beside the one in runtimes().
std::unique_ptr<Runtime> make_runtime();

// The number of times that this process has run the compiler for Runtime::compile().
size_t compiler_runs();
// Whether the compiler optimizes what Runtime::compile() gives it from now on; at first it does. Without, it takes half
// the time, and kernels several times theirs, with the same bits: for small arrays. Null in programs without the
// emulated device.
[[gnu::weak]] void set_optimized(bool on);

}  // namespace retrace::cuda::emulation
