#pragma once
// Threads that no signal interrupts.

#include <functional>
#include <thread>

namespace retrace {

// A thread that runs this with all signals blocked, so that they reach the threads of the user. Throws
// std::system_error if the system has no thread left.
std::thread quiet_thread(std::function<void()> run);

}  // namespace retrace
