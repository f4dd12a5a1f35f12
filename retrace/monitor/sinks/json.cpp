#include "retrace/monitor/json_lines.h"
#include "retrace/monitor/sink_kind.h"

namespace retrace {

SinkKind json_sink() {
  return {.name = "json",
          .help = "each event as one line of JSON",
          .make = [](const SinkStream& stream) -> std::unique_ptr<Monitor> {
            return std::make_unique<JsonLines>(
                [write = stream.write](std::string_view line) { write(std::string(line), false); });
          }};
}

}  // namespace retrace
