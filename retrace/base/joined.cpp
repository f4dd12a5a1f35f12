#include "retrace/base/joined.h"

#include <fmt/format.h>

namespace retrace::detail {

void append_text(std::string& text, std::string_view item) { text += item; }
void append_text(std::string& text, int64_t item) { text += fmt::format("{}", item); }
void append_text(std::string& text, uint64_t item) { text += fmt::format("{}", item); }
void append_text(std::string& text, double item) { text += fmt::format("{}", item); }
void append_text(std::string& text, float item) { text += fmt::format("{}", item); }

}  // namespace retrace::detail
