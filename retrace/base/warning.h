#pragma once
// Warnings of the library to its user.

#include <string>

namespace retrace {

// Called, on any thread, with every warning that the library has for the user (a trace that grows without end, a worker
// that does not come); silent by default.
void set_warning_handler(void (*handler)(const std::string& text));

// Gives a warning to the handler.
void warn(const std::string& text);

}  // namespace retrace
