#include "retrace/base/warning.h"

#include <atomic>

namespace retrace {
namespace {

std::atomic<void (*)(const std::string&)> warning_handler{nullptr};

}  // namespace

void set_warning_handler(void (*handler)(const std::string& text)) { warning_handler = handler; }
void warn(const std::string& text) {
  if (auto* handler = warning_handler.load()) handler(text);
}

}  // namespace retrace
