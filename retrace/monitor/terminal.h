#pragma once
// Progress for people: on a terminal one line that is rewritten, in a log one line an epoch.

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "retrace/monitor/monitor.h"

namespace retrace {

struct TerminalOptions {
  bool rewrite = false;   // the stream is a terminal that obeys '\r'
  int columns = 80;       // lines are cut there when they are rewritten
  double interval = 0.1;  // seconds between two rewrites at least
};

// Options that fit a stream: rewritten on a terminal, with its width. `dumb` says that it obeys no '\r'.
TerminalOptions terminal_options(std::FILE* stream, bool dumb = false);

// Writes to `stream`, which must outlive it, or gives its texts to `write`; those that the next one replaces are
// `passing`. A stream that cannot be written is ignored: no view stops a run.
//   epoch 3/20  step 468/3120  loss 0.1234  validation 0.1312  accuracy 0.9712  12.3 s  1:40 left
class Terminal : public Monitor {
 public:
  using Write = std::function<void(std::string text, bool passing)>;
  Terminal(Write write, TerminalOptions options);
  Terminal(std::FILE* stream, TerminalOptions options);
  ~Terminal() override;
  void receive(const Event& event) override;

 private:
  void show(const RunStarted& event);
  void show(const StepDone& event);
  void show(const EpochDone& event);
  void show(const ValidationDone& event);
  void show(const RunFinished& event);
  std::string line(int epoch, int64_t iteration, double loss, double seconds) const;
  void rewrite(const std::string& text);
  void end_line(const std::string& text);
  void end_epoch();

  Write write_;
  TerminalOptions options_;
  RunStarted run_;
  std::optional<EpochDone> epoch_;            // done, its line not yet written: a validation may follow
  std::optional<ValidationDone> validation_;  // the last one
  std::chrono::steady_clock::time_point last_{};
  size_t shown_ = 0;  // the most characters that the line had that stands on the terminal
};

// "12.3 s", "1:40", "2:03:04".
std::string duration_text(double seconds);

}  // namespace retrace
