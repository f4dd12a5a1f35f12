#pragma once
// What this machine can do at this moment, on thread_count() threads: the yardsticks of every bench, and the guard
// against neighbours. Code under measurement runs in between two probes; see guard.h.

#include <cstdint>
#include <map>

namespace retrace::bench {

// Operations a second (a multiply-add is two) of independent chains of multiply-adds that stay in registers, with the
// instruction set in use. Measures at each call, for about 0.2 ms.
double probe_peak();

// Bytes a second of out = a + b, reads and writes counted, the best of several passes: by the bytes of the three arrays
// together, 512 KiB to 256 MiB. Measured at the first call for a number of threads, and kept.
const std::map<int64_t, double>& bandwidths();

// The best of bandwidths() for sets of at least as many bytes: no code moves so many bytes faster.
double bandwidth(int64_t bytes);

}  // namespace retrace::bench
