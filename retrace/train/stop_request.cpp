#include "retrace/train/stop_request.h"

#include <chrono>
#include <system_error>

#include "retrace/base/file.h"
#include "retrace/base/quiet_thread.h"

namespace retrace {
namespace {

constexpr auto kLook = std::chrono::milliseconds(500);

std::filesystem::path request_of(const std::filesystem::path& run) { return run / "stop"; }

void withdraw(const std::filesystem::path& run) {
  std::error_code failure;
  std::filesystem::remove(request_of(run), failure);
}

}  // namespace

void ask_to_stop(const std::filesystem::path& run) { write_file_whole(request_of(run), "stop\n"); }

bool stop_is_asked(const std::filesystem::path& run) {
  std::error_code failure;
  return std::filesystem::exists(request_of(run), failure);
}

StopRequests::~StopRequests() { end(); }

void StopRequests::receive(const Event& event) {
  if (const auto* started = std::get_if<RunStarted>(&event); started && !started->run_dir.empty())
    begin(started->run_dir);
  if (std::holds_alternative<RunFinished>(event)) end();
}

void StopRequests::begin(const std::filesystem::path& run) {
  end();
  run_ = run, ended_ = false;
  withdraw(run);
  try {
    thread_ = quiet_thread([this] {
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, kLook, [this] { return ended_; }))
        if (stop_is_asked(run_)) return received_.store(true);
    });
  } catch (const std::system_error&) {  // no thread is left: nobody can ask
  }
}

void StopRequests::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
  withdraw(run_);
}

}  // namespace retrace
