#include "retrace/monitor/stream_writer.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace retrace {
namespace {

// A pipe that can be written takes so many bytes without waiting.
constexpr size_t kPiece = 4096;
constexpr int kMillisecondsOfPoll = 100;

// Whether a write would not wait, or would fail at once; asked again for `milliseconds` at most.
bool is_ready(int descriptor, int milliseconds) {
  pollfd wanted{descriptor, POLLOUT, 0};
  return descriptor < 0 || ::poll(&wanted, 1, milliseconds) > 0;
}

}  // namespace

struct StreamWriter::Queue {
  Queue(int where, size_t limit) : descriptor(where), most(limit) {}

  struct Text {
    std::string text;
    bool passing = false;
  };

  void add(Text text) {
    const std::lock_guard lock(mutex);
    if (!texts.empty() && texts.back().passing) texts.pop_back();
    for (; texts.size() >= most; ++dropped) texts.pop_front();
    texts.push_back(std::move(text));
  }

  // The next text; none if there is nothing left.
  std::optional<std::string> take() {
    const std::lock_guard lock(mutex);
    if (dropped > 0) {
      const auto lost = std::exchange(dropped, 0);
      return fmt::format("({} line{} left out: nobody read them)\n", lost, lost == 1 ? " was" : "s were");
    }
    if (texts.empty()) return std::nullopt;
    std::string text = std::move(texts.front().text);
    texts.pop_front();
    return text;
  }

  // Writes what waits. Waits for the reader as long as nobody gives up, or not at all; true if nothing is left.
  bool drain(bool patient) {
    while (true) {
      if (rest.empty()) {
        auto text = take();
        if (!text) return true;
        rest = std::move(*text);
      }
      while (!is_ready(descriptor, patient ? kMillisecondsOfPoll : 0))
        if (!patient || given_up) return false;
      const ssize_t written = ::write(descriptor, rest.data(), std::min(rest.size(), kPiece));
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      rest.erase(0, written > 0 ? static_cast<size_t>(written) : rest.size());
    }
  }

  const int descriptor;
  const size_t most;
  std::mutex mutex;  // of texts, dropped
  std::deque<Text> texts;
  int64_t dropped = 0;
  std::string rest;  // of the text that is being written; only drain() uses it
  std::atomic<bool> given_up{false};
};

StreamWriter::StreamWriter(int descriptor, StreamWriterOptions options)
    : queue_(std::make_shared<Queue>(descriptor, std::max<size_t>(options.most, 1))),
      background_([queue = queue_] { queue->drain(true); }),
      left_(options.seconds) {}

StreamWriter::~StreamWriter() {
  if (wait()) return;
  queue_->given_up = true;
  // A thread that polls sees it; one that hangs in write() is left behind.
  if (!background_.wait(3e-3 * kMillisecondsOfPoll)) background_.leave();
}

void StreamWriter::write(std::string text, bool passing) {
  queue_->add({std::move(text), passing});
  const std::lock_guard lock(owner_);
  alone_ = !background_.ask();
  if (alone_) queue_->drain(false);
}

bool StreamWriter::wait() {
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const std::lock_guard lock(owner_);
  bool done = false;
  if (!alone_)
    done = background_.wait(left_);
  else
    while (!(done = queue_->drain(false)) && spent() < left_) is_ready(queue_->descriptor, kMillisecondsOfPoll / 10);
  left_ = std::max(0.0, left_ - spent());
  return done;
}

}  // namespace retrace
