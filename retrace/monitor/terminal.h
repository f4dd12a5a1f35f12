#pragma once
// Progress for people: on a terminal one line that is rewritten, in a log one line an epoch.

#include <cstdio>
#include <functional>
#include <string>

#include "retrace/base/owned.h"
#include "retrace/monitor/monitor.h"

namespace retrace {

// Options of Terminal.
struct TerminalOptions {
  bool rewrite = false;     // the stream is a terminal that obeys '\r'
  int columns = 80;         // lines are cut there when they are rewritten
  double interval = 0.1;    // seconds between two rewrites at least
  bool says_causes = true;  // of a loss that is not finite, in the last lines
  bool unicode = false;     // a line that is rewritten has a bar and a small curve of the loss, where it has room
};

// Options that fit a stream: rewritten on a terminal, with its width, and with pictures if the locale is UTF-8. `dumb`
// says that it obeys no '\r'.
TerminalOptions terminal_options(std::FILE* stream, bool dumb = false);

// Writes to `stream`, which must outlive it, or gives its texts to `write`; those that the next one replaces are
// `passing`. A stream that cannot be written is ignored: no view stops a run.
//   █▌░░░░░░░░  epoch 3/20  step 468/3120  loss 0.1234 ▇▅▃▂▁  validation 0.1312  accuracy 0.9712  12.3 s  4864
//   samples/s  1:40 left
// Where a line of 80 columns has room, in a log, or that of the terminal, it has steps/s, too. On a narrow terminal the
// bar, the steps/s, the seconds, the curve, the loss of the validation and the samples are left out, in this order,
// before the line is cut.
class Terminal : public Monitor {
 public:
  using Write = std::function<void(std::string text, bool passing)>;
  Terminal(Write write, TerminalOptions options);
  Terminal(std::FILE* stream, TerminalOptions options);
  ~Terminal() override;
  void receive(const Event& event) override;

 private:
  struct View;
  Owned<View> view_;
};

// "12.3 s", "1:40", "2:03:04".
std::string duration_text(double seconds);

}  // namespace retrace
