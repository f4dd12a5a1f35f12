#include "retrace/monitor/terminal.h"

#include "retrace/monitor/sink_kind.h"

namespace retrace {

SinkKind terminal_sink() {
  return {.name = "terminal",
          .help = "a line that is rewritten; in a log a line an epoch",
          .make = [](const SinkStream& stream) -> std::unique_ptr<Monitor> {
            return std::make_unique<Terminal>(stream.write, stream.view);
          }};
}

}  // namespace retrace
