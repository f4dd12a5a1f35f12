#pragma once
// How much recompute_cheap may keep. While a scope lives on this thread, passes aim at this share of the memory that
// they would else take at the peak, by computing more values again.

#include "retrace/trace/trace.h"

namespace retrace {

class MemoryShare {
 public:
  explicit MemoryShare(double share);
  ~MemoryShare();
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;
  static double current();  // 1: no limit

 private:
  double outer_;
};

// The trace with large values computed again before a late reader, cheap ones first, until what lives at any node is at
// most `share` of the peak, or nothing helps any more.
Trace recompute_within(Trace trace, double share);

}  // namespace retrace
