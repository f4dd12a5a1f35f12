// Any text is either refused with Error(bad_data), or is a trace whose printed form reads back to the same trace.

#include "retrace/base/error.h"
#include "retrace/ops/op.h"
#include "retrace/trace/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  try {
    const Trace trace = parse_trace({reinterpret_cast<const char*>(data), size}, op_table());
    try {
      verify(trace, "parsing");
      if (!(parse_trace(print_trace(trace), op_table()) == trace)) __builtin_trap();
    } catch (const Error&) {
      __builtin_trap();
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) __builtin_trap();
  }
  return 0;
}
