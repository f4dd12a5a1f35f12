#pragma once
// How many threads compute.

namespace retrace {

// The threads that kernels use: 1 to 256; the default is the number of cores that this process may use.
int thread_count();

// Sets thread_count() for the process. Error(usage) for a count outside of 1 to 256.
void set_thread_count(int count);

}  // namespace retrace
