#pragma once
// Text for a terminal, a pipe or a log whose reader may be slow, stuck or gone.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "retrace/monitor/background.h"

namespace retrace {

struct StreamWriterOptions {
  size_t most = 256;   // texts that wait at most
  double seconds = 1;  // that wait() and the destructor wait for the reader, all together
};

// Nobody who writes waits for the reader: texts are queued, and a thread writes them. Any thread may write.
class StreamWriter {
 public:
  explicit StreamWriter(int descriptor, StreamWriterOptions options = {});
  ~StreamWriter();

  // Queues the text. One that is `passing` (progress) gives way to the next text while it waits. When too many wait,
  // the oldest are dropped, and a line tells how many as soon as the reader goes on. A stream that cannot be written is
  // ignored.
  void write(std::string text, bool passing = false);
  // Returns when all is written, or when the seconds of the options are spent: then false.
  bool wait();

 private:
  struct Queue;
  std::shared_ptr<Queue> queue_;  // also of the thread, which may be left behind
  std::mutex owner_;              // of what follows
  Background background_;
  bool alone_ = false;  // there is no thread
  double left_ = 0;     // seconds to wait
};

}  // namespace retrace
