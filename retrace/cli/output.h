#pragma once
// Standard output and standard error.

#include <string>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/monitor/stream_writer.h"

namespace retrace::cli {

// Makes closed standard streams harmless: no file that is opened later takes their numbers, writing to a closed
// standard output fails, and a reader that went away, or a file beyond the limit of its size (ulimit -f), is an error
// with a text instead of a signal.
void guard_standard_streams();

// Writes to standard output; throws Error(output) if it is closed or full.
void print(std::string_view text);

// The error of --json where standard output gets `what` already.
Error beside_json(const char* what);

// Standard error, written by a thread of its own: a reader that stands still stops nobody.
StreamWriter& standard_error();

// Writes a line to standard error, if that is possible; does not wait for its reader, and needs no memory.
void complain(std::string_view text) noexcept;

// Waits for the reader of standard error, a second at most.
void finish_standard_error();

}  // namespace retrace::cli
