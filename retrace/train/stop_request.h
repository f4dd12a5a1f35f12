#pragma once
// A request to a training, in whatever process, to end after its iteration: the file RUN/stop.

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "retrace/monitor/monitor.h"

namespace retrace {

// Errors: output.
void ask_to_stop(const std::filesystem::path& run);
bool stop_is_asked(const std::filesystem::path& run);

// Looks for requests to the run that it is told of, twice a second on a thread of its own. A request from before the
// run began, or went on, is removed, and so is one when the run ends.
class StopRequests : public Monitor {
 public:
  StopRequests() = default;
  ~StopRequests() override;
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  void receive(const Event& event) override;
  // Whether one has come; once true it stays true.
  bool received() const { return received_.load(std::memory_order_relaxed); }

 private:
  void begin(const std::filesystem::path& run);
  void end();

  std::filesystem::path run_;
  std::atomic<bool> received_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace retrace
