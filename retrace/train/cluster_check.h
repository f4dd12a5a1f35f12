#pragma once
// Whether the workers of a pool can train together, and what their messages cost.

#include <string>
#include <vector>

#include "retrace/distributed/pool.h"

namespace retrace {

// What one worker is.
struct ClusterNode {
  std::string host, version, simd_target;
  int contract = 0, cores = 0;
  double clock = 0;         // seconds that its clock is ahead of worker 0's, to about half a round trip
  std::string fingerprint;  // of a small training that it made alone
};

struct ClusterCheck {
  std::vector<ClusterNode> nodes;  // by worker
  double barrier = 0;              // seconds
  // An all_gather of so many bytes from each worker: seconds.
  std::vector<std::pair<int64_t, double>> gathers;
  // What must be equal and is not: "worker 1 has retrace 0.2.0, worker 0 has 0.1.0".
  std::vector<std::string> differences;
};

// Runs on every worker of the pool; returns the same in each process. The medians are of 20 collectives or more. Throws
// what collectives throw.
ClusterCheck check_cluster(Pool& pool);

}  // namespace retrace
