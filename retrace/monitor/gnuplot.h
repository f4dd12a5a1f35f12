#pragma once
// Pictures through gnuplot, which is run without a shell.

#include <string>
#include <string_view>

namespace retrace {

// Runs gnuplot on a script and waits for it. "" when it ended well; else one line that says what was in the way: that
// it is not installed (package gnuplot-nox), or its own message. Throws Error(output) if the temporary script cannot be
// written.
std::string run_gnuplot(std::string_view script);

// A text as a string of a gnuplot script.
std::string gnuplot_string(std::string_view text);

}  // namespace retrace
