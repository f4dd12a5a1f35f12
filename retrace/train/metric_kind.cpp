#include "retrace/train/metric_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/error.h"

namespace retrace {

const MetricKind& metric_of(const nn::NetworkOutput& output) {
  const MetricKind& kind = kind_of(all_metrics(), output.metric, "metric", {});
  if (std::count(kind.outputs.begin(), kind.outputs.end(), output.kind)) return kind;
  throw Error(ErrorKind::usage, 433,
              fmt::format("the metric \"{}\" cannot measure the output \"{}\"", kind.name, output.name))
      .got(fmt::format("an output of {}", text_of(output.kind)));
}

}  // namespace retrace
