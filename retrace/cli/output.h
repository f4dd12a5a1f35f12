#pragma once
// Standard output and standard error.

#include <string>
#include <string_view>

namespace retrace::cli {

// Makes closed standard streams harmless: no file that is opened later takes their numbers, writing to a closed
// standard output fails, and a reader that went away is an error with a text instead of a signal.
void guard_standard_streams();

// Writes to standard output; throws Error(output) if it is closed or full.
void print(std::string_view text);

// Writes a line to standard error, if that is possible.
void complain(const std::string& text);

}  // namespace retrace::cli
