#include "retrace/ops/recorded_body.h"

#include <fmt/format.h>

#include "retrace/trace/call_scope.h"
#include "retrace/trace/draw_scope.h"

namespace retrace {

RecordedBody record_body(const char* what, std::span<const TensorSpec> inputs,
                         FunctionRef<std::vector<Tensor>(std::span<const Tensor> inputs)> body, Place place) {
  const CallScope call;
  const DrawScope* const draws = DrawScope::current();
  const int64_t drawn = draws ? draws->ordinal() : 0;
  const auto outer = current_recording();
  RecordingScope scope;
  Recording& recording = scope.recording();
  recording.record_body(outer, what, place);
  std::vector<Tensor> arguments;
  for (const TensorSpec& spec : inputs) arguments.push_back(recording.add_input(spec));
  const std::vector<Tensor> outputs = body(arguments);
  if (draws && draws->ordinal() != drawn)
    throw Error(ErrorKind::usage, 263, fmt::format("random numbers are drawn inside the body of {}", what))
        .where(place)
        .help("draw them outside, for a scan with an axis T as part of xs: the body is recorded once");
  for (const Tensor& output : outputs) recording.id_of(output, place);  // of what comes from outside: one more input
  RecordedBody made;
  for (const Tensor& input : recording.inputs())
    if (input.defined()) made.used.push_back(input);
  made.trace = recording.take_trace(outputs);
  return made;
}

}  // namespace retrace
