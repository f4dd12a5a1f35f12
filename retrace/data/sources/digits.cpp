#include "retrace/data/digits.h"

#include "retrace/data/source_kind.h"

namespace retrace {

SourceKind digits_source() {
  return {.name = "digits",
          .help = "5,000 + 5,000 generated digits of 28 x 28 pixels, with class and angle",
          .sample = {kDigitSize, kDigitSize, 1},
          .targets = {{.name = "class"}, {.name = "angle", .kind = nn::OutputKind::values}},
          .load = [](Split split, const SourceRequest&) { return digits(split); }};
}

}  // namespace retrace
