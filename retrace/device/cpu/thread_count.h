#pragma once
// How threads compute: how many, and in which mode.

namespace retrace {

// How sums are computed. A training says its own mode (training.mode). docs/numerics.md 11.
enum class Mode {
  reproducible,  // in the order of docs/numerics.md: the same bits every time
  fast,          // on the CPU in the order in which threads finish: results differ from run to run in their last bits;
                 // on a CUDA device matrix products and convolutions in TF32: factors are rounded to 11 bits
  fast_bf16,     // on the CPU as fast; on a CUDA device the same products in bf16: factors are rounded to 8 bits, and
                 // weights, sums and all else stay f32
};

// The threads that kernels use: 1 to 256; the default is the number of cores that this process may use.
int thread_count();

// Sets thread_count() for the process. Error(usage) for a count outside of 1 to 256.
void set_thread_count(int count);

}  // namespace retrace
