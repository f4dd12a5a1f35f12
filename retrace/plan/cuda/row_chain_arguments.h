#pragma once
// The argument of kernels of chains of rows (row_chain_kernel.h), for host and device.

namespace retrace::cuda {

constexpr int kRowThreads = 256, kRowBlock = 256;
constexpr int kRowTreeLevels = 8;                  // of the tree over the records of a group, and over groups
constexpr int kMostRowParts = 8 << kRowTreeLevels >> 1;  // that such a tree takes, at most

// Each block leaves a record of its sums. Records of `per_group` neighbouring blocks, a power of two, are combined by
// the block of them that comes last, and what the groups leave by the last block of all.
struct RowChainArguments {
  long long rows;
  void *records, *group_records;
  void* counters;  // a word for each group, and one more
  int blocks, per_group, groups;
};

}  // namespace retrace::cuda
