#pragma once
// The argument of kernels of chains of rows (row_chain_kernel.h), for host and device.

namespace retrace::cuda {

constexpr int kRowThreads = 256, kRowBlock = 256;
constexpr int kMostRowBlocks = 255 * 256;  // 255 groups of 256: within the counters of a launch
constexpr int kRowTreeLevels = 6;          // of the tree over the parts of a group, eight at a time
// In shared memory a feature of the next one lies a row's pad behind its rows, so that what four threads read of
// neighbouring features lies in different banks.
constexpr int kRowPad = 4;
constexpr int kRowTile = 8, kNarrowRowTile = 4;  // outputs that a thread makes at a time: of a product, of a narrow one
constexpr int kRowStrip = 16, kRowStrips = kRowBlock / kRowStrip, kRowStripStep = kRowStrips + 1;

// Each block leaves a record of its sums. Records of `per_group` neighbouring blocks, a power of two, are combined by
// the block of them that comes last, and what the groups leave by the last block of all.
struct RowChainArguments {
  long long rows;
  void *records, *group_records;
  void* counters;  // a word for each group, and one more
  int blocks, per_group, groups;
};

}  // namespace retrace::cuda
