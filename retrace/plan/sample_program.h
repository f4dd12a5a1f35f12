#pragma once
// Layers and their gradients, forward and backward, over a few samples at a time: what lies in between stays in a
// thread's caches. Every thread takes slabs of samples and runs all kernels on them by itself; sums over the samples
// come out as the slabs' subtrees, and the tree goes on over those: the values are those of the ops one by one.

#include <cstdint>
#include <memory>
#include <vector>

#include "retrace/trace/op.h"

namespace retrace {

class Plan;

class SampleProgram {
 public:
  // The body is a trace after the passes, all of whose nodes go by samples (plan/samples.h); a slab is a power of two
  // of samples, at least the subtree of each of its sums.
  SampleProgram(const Trace& body, int64_t samples, int64_t slab);
  ~SampleProgram();

  int64_t workspace_bytes() const;
  size_t thread_bytes() const;  // that each thread needs beside it
  // inputs[i] and outputs[i] are the whole arrays.
  void run(const void* const* inputs, void* const* outputs, void* workspace) const;

 private:
  // An array of the body: bytes of a sample if it is cut, else of a sum's floats or 0.
  struct Part {
    bool cut;
    size_t sample_bytes;
    int64_t floats;
  };

  int64_t slabs() const { return (samples_ + slab_ - 1) / slab_; }
  void run_slab(int64_t index, const void* const* inputs, void* const* outputs, float* const* partials) const;

  int64_t samples_, slab_;
  std::vector<Part> inputs_, outputs_;
  std::unique_ptr<const Plan> whole_, rest_;  // of a slab; of the last one if it has fewer samples
};

// The op of such a chain: its node's body says what it computes, `samples` of how many, `slab` how many at a time.
const Op& sample_chain_op();

}  // namespace retrace
