#pragma once
// Sinks by name: retrace/monitor/sinks/NAME.cpp defines `SinkKind NAME_sink()`. A sink is a view of a run that a user
// chooses by its name: retrace train --monitor NAME.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "retrace/base/kinds.h"
#include "retrace/monitor/terminal.h"

namespace retrace {

// Where a sink writes.
struct SinkStream {
  Terminal::Write write;  // does not wait; a text that the next one replaces is `passing`
  TerminalOptions view;   // how the stream shows texts
  // Serves the live page of a run folder until the run is over, and tells its address; empty: there is none.
  std::function<void(const std::string& run)> serve_page = {};
};

struct SinkKind {
  std::string name;
  std::string_view help;  // one line
  std::function<std::unique_ptr<Monitor>(const SinkStream& stream)> make;
};

// Every sink, in the order of the files. Generated.
const std::vector<SinkKind>& all_sinks();

}  // namespace retrace
