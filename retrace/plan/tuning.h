#pragma once
// The numbers that decide how a trace is planned, and no bit of its results. All were measured on two cores of an
// AVX-512 server (48 KiB of first-level cache and 1 MiB of second-level cache for each core), with the four workloads
// of bench/. To measure one again: change it, build bench/models of both versions, and let each answer "run 200"
// several times in turns, as in `echo run 200 | build/bench/models peaks train accelerated 2`; the smallest times
// count. "profile 50" tells which kernel call it was. The workload that a number moves most stands beside it; where two
// numbers follow from caches or from each other, that is said instead.

#include <cstddef>
#include <cstdint>

namespace retrace {

// Thresholds of the passes; another value makes other kernels and the same bits.
struct Tuning {
  // -- when pointwise work is done (fuse_pointwise, recompute_cheap, recompute_within)
  int64_t large_elements = 16'384;  // smaller values stay in the second-level cache: not worth computing again. cifar10
  size_t chain_ops = 64;            // of a fused chain: their registers fill the first-level cache. digits
  size_t recomputed_ops = 4;        // that one cheap value may cost: more take longer than reading it again. cifar10

  // -- a chain that a reduction reads through (fuse_prologues)
  size_t prologue_ops = 16;    // digits; more make no difference
  int64_t prologue_run = 128;  // elements that lie in a row: the chain runs once for each. group_norm of 4 groups of 16
  int prologue_arrays = 3;     // of the reduction's size, read instead of its input: more need more bandwidth. cifar10

  // -- sums that the kernel of their array takes along (fuse_reductions)
  // From 12 MiB on: smaller arrays stay in the second-level caches until a kernel of their own sums them. cifar10
  int64_t reduced_elements = 3 << 20;

  // -- chains of narrow layers over many rows (fuse_rows)
  // Nanoseconds of a thread for a row, of the chain and of kernels apart (pays() in fuse_rows.cpp). Fitted to 13 MLPs
  // of 1 to 64 features with 2,048 to 65,536 rows, forwards and backwards, with 2 threads of a Zen 4: 0.6 to 1.2 of the
  // times
  struct Rows {
    double term = 0.027;                      // of a product, in the chain
    double outer = 0.5;                       // number of a row that is read or written by the chain, and put in order
    double padded_term = 0.029;               // of a product apart, with those of columns that fill up its vectors
    double rule = 0.1;                        // number that a rule makes, in both
    double cached = 0.03, uncached = 0.3;     // number that kernels apart write and read, in the caches and outside
    int64_t cache_bytes = int64_t{24} << 20;  // of all rows of these

    bool operator==(const Rows&) const = default;
  };
  Rows rows;
  int chain_products = 2;  // one product is as fast as a kernel of its own. peaks

  // -- chains of layers over a few samples (fuse_samples)
  struct Samples {
    int contractions = 2;                     // in it, at least: one saves nothing. autoencoder
    int64_t slabs = 8;                        // for as many threads, at least: fewer leave threads without work
    int64_t inner_bytes = int64_t{4} << 20;   // that stay within it, at least: less fits the caches anyway. autoencoder
    int64_t slab_bytes = int64_t{512} << 10;  // half of a second-level cache: that a kernel touches for a slab
    int64_t most_slab_bytes = int64_t{2} << 20;     // where a slab must be larger; beyond it digits loses
    int64_t most_sample_bytes = int64_t{16} << 20;  // where a slab is one sample: all at once touch more. attention
    int64_t work = 8;  // bytes of a slab's samples for each byte of weights, which every slab prepares, and of sums

    bool operator==(const Samples&) const = default;
  };
  Samples samples;

  // -- reductions of lines and what is around them (fuse_lines)
  size_t line_nodes = 32;               // of a chain
  size_t line_bytes = size_t{1} << 20;  // of samples that are not read and written again, at least
  // They prepare no weights, and each array is gone through once or twice. layer_norm, group_norm of bench/op_calls
  Samples lines = {.slabs = 4, .slab_bytes = int64_t{1} << 20};

  // -- a memory limit (make_plan, recompute_within)
  double first_share = 0.9, last_share = 0.02, share_step = 0.85;  // of the peak: the attempts, 25 at most
  size_t restored_ops = 32;                                        // that one value may cost
  int restored_contractions = 3;  // among them. autoencoder with RETRACE_MEMORY_LIMIT=8

  // -- the order of kernels (order_by_memory)
  size_t ordered_bytes = size_t{4} << 20;  // less fits the caches in any order
  double ordered_share = 0.95;             // of the peak, that another order may need: a gain that is worth one
  size_t early_bytes =
      64;  // results so small are made early: others, which free memory, wait for them. GPT-2 by bench/gpt

  // -- exchanges between workers (place_exchanges)
  size_t bucket_bytes = size_t{128} << 10;  // a bucket of that size is full: digits with --workers 2

  bool operator==(const Tuning&) const = default;
};

// Sizes that programs and kernels are compiled with.
namespace tuning {
constexpr size_t kSliceBytes = 2048;  // of a full bucket for each worker: no message is short. digits, 1,000 workers
constexpr int64_t kFewestLoopSamples = 8;   // that a thread takes through a loop. lstm, 16 sequences of 50
constexpr int64_t kFilledColumns = 16;      // products of fewer columns take as long, and of one half of that. 2-20-5-1
constexpr int64_t kTile = 512;              // elements of a tile: a register takes 2 KiB. digits
constexpr int64_t kLongPeriod = 2048;       // elements: longer patterns are read where they lie. digits
constexpr int64_t kRepeatedElements = 256;  // half a tile: so many, or fewer, are stretched once a tile. group_norm
constexpr int64_t kFewestRow = 256;         // elements of a row of equal ones at whose end a tile ends. layer_norm
constexpr int64_t kFreeTile = 1024;         // elements of a tile of links that needs no registers. layer_norm
constexpr int64_t kNumbersTile = 8192;      // of such a tile where all numbers lie in rows. multiply a column
constexpr int64_t kRowNumbers = 1024;       // that the rows of such a tile have, at most
constexpr int64_t kMostTile = 2048;         // elements of a tile of few registers that reads what lies in memory. huber
constexpr int64_t kTileFloats = 8192;       // of its registers and patterns together. huber
constexpr int64_t kFewestEqual = 64;        // elements of a row of equal ones that is filled by itself. layer_norm
constexpr int64_t kFewestRepeats = 4;       // group_norm
constexpr int64_t kChainPiece = 8192;       // elements of a chain that one thread takes at a time. digits
constexpr int64_t kMostChainPiece = 65'536;  // the same of a large array. multiply a column of bench/op_calls
constexpr int64_t kFewestPieces = 8;         // for each thread of such an array
constexpr int64_t kChainPieceWork =
    16'384;                                 // elements times ops of such a piece, at least a tile: the gates of an LSTM
constexpr int64_t kMostChainFeatures = 64;  // columns of a row chain's values: 64 times 1 KiB fill half of the caches
constexpr int64_t kMostChannels = 256;      // of a sum by strips: a strip of more is not in one range of any kernel
constexpr int64_t kPartElements =
    8192;  // of an array of parts that are written at a time: they fill a first-level cache
constexpr int64_t kReadElements = 8192;      // that a chain makes at a time where a sum by strips reads it. cifar10
constexpr int kMostStripLevel = 12;          // 2^12 strips of 16 positions are summed at a time, at most. cifar10
constexpr unsigned kCudaChainThreads = 256;  // of a block
constexpr int64_t kLeastOfFour = 1 << 20;    // elements of a chain of which a thread takes four: fewer need all threads
constexpr int64_t kLeastCudaChannels = 8;  // of an array that is made while it is summed: 32 bytes are written at once
constexpr size_t kMostCudaSums = 4;        // that a chain takes along: each takes registers. An estimate
constexpr int kFewestCudaRows = 32;        // that a block of a row chain takes at a time: a warp of them
constexpr size_t kMostCudaShared = size_t{96} << 10;  // of such a block: two on a processor of sm_90, one of sm_86
// Multiply-adds of a row chain's row for each of its products, at most: a thread does those of a row. With more a block
// takes longer than the launches that it saves. An estimate.
constexpr int64_t kMostCudaRowWork = 512;
// Of a chain of lines: threads of a block, and of one where the last block adds up all lines; elements of a line, at
// most; elements that are added up, at most: the others wait for that block; elements that a thread holds at a time,
// and that times the chain's nodes, which all stand in the code. Estimates.
constexpr unsigned kCudaLineThreads = 256, kCudaSummingLineThreads = 512;
constexpr int64_t kMostCudaLine = 512, kMostSummedLines = 1 << 14, kMostCudaLineHeld = 96, kMostCudaLineWork = 512;
// Of a chain that a contraction's kernel computes on what it stores: every thread does so for up to 64 elements, whose
// code stands there one after the other. Estimates.
constexpr size_t kMostCudaEpilogueOps = 24, kMostCudaEpilogueArrays = 12;
// Launches for which memory of the arena rests: what overwrites it sooner would wait for launches that nothing else
// waits for. digits: 113 us by the model in place of 129 with 1, for 14 % more memory; 3 give 111 for 27 %
// (bench/expected).
constexpr size_t kCudaRest = 2;
constexpr size_t kMostCudaArguments = 4000;  // bytes of a kernel; CUDA takes 4,096
// Edges that a search in a trace follows before it gives up: planning stays linear, and no workload has that many.
constexpr size_t kMostSearchSteps = 4096;
}  // namespace tuning

}  // namespace retrace
