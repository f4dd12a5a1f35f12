#include "retrace/monitor/gnuplot.h"

#include <fmt/format.h>

#include <cerrno>

#include "retrace/monitor/program.h"

namespace retrace {

std::string run_gnuplot(std::string_view script) {
  const TemporaryFile commands(".gnuplot");
  if (!write_all(commands.descriptor(), script)) throw write_failed(commands.path(), errno);
  const ProgramEnd end = run_program({"gnuplot", commands.path()});
  if (!end.installed) return "gnuplot is not installed (package gnuplot-nox)";
  return end.status == 0 ? "" : fmt::format("gnuplot failed: {}", end.message);
}

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "'";
}

}  // namespace retrace
