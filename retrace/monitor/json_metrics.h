#pragma once
// Metrics as JSON.

#include "retrace/base/json.h"
#include "retrace/monitor/monitor.h"

namespace retrace {

// {"accuracy":0.98,...,"confusion_matrix":[[5,0],[1,4]]}
inline Json json_metrics(const MetricValues& metrics, const MetricTables& tables) {
  std::vector<Json::Member> members(metrics.begin(), metrics.end());
  for (const auto& [name, table] : tables)
    members.emplace_back(name, Json::list(table, [](const std::vector<double>& row) {
                           return Json::list(row, [](double value) { return Json(value); });
                         }));
  return Json::object(members);
}

}  // namespace retrace
