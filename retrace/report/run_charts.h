#pragma once
// The curves of a run.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/monitor/line_chart.h"
#include "retrace/report/run_log.h"

namespace retrace {

// What can be drawn: "loss", the metrics of validations in their order, "learn_rate" where steps are logged.
std::vector<std::string> chart_names(const RunLog& log);

// The chart of one of them over the iterations: the loss of each step (of each epoch, if there is no log of
// steps), as it is and smoothed, and that of the validations; a metric of the validations; the learn rate of each step.
// Errors: usage for another name, with the nearest one.
LineChart run_chart(const RunLog& log, const std::filesystem::path& run, const std::string& name);

// The exponential moving average of the values y: m <- (1 - a) m + a y from m = 0, divided by the sum of its weights,
// so that it begins with the first value; a = 2 / (n + 1), with n a tenth of the points, at least 3. A value that is
// not finite is passed over.
std::vector<std::pair<double, double>> smoothed(const std::vector<std::pair<double, double>>& points);

}  // namespace retrace
