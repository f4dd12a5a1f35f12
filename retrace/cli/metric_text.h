#pragma once
// Metrics as the command prints them.

#include <string>
#include <vector>

#include "retrace/monitor/monitor.h"

namespace retrace::cli {

// Six digits; no sign of NaN, which means nothing.
std::string number_text(double value);

// "loss 0.01, accuracy 0.98"
std::string metrics_text(double loss, const MetricValues& metrics);

// Columns of texts that are aligned on the right, the first one on the left; a line for each row.
std::string columns_text(const std::vector<std::vector<std::string>>& rows);

// The table under its name. Rows and columns have names, or, where those are empty, numbers.
std::string table_text(const std::string& name, const MetricTable& table, const std::vector<std::string>& names = {});

}  // namespace retrace::cli
