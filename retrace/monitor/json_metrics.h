#pragma once
// Metrics as JSON.

#include "retrace/base/json.h"
#include "retrace/monitor/monitor.h"

namespace retrace {

// {"accuracy":0.98,...}
inline Json json_metrics(const MetricValues& metrics) {
  return Json::object(std::vector<Json::Member>(metrics.begin(), metrics.end()));
}

}  // namespace retrace
