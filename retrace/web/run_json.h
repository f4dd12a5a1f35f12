#pragma once
// What the page's script reads.

#include "retrace/base/json.h"
#include "retrace/report/series.h"
#include "retrace/web/run_list.h"

namespace retrace {

// {"id":1,"name":"digits-1","state":"running","iteration":10,"iterations":3120,...}
Json run_json(const ListedRun& run);
// The run and the name; columns "x", "x_last", "minimum", "maximum", "mean", "points", and "single": each bucket is a
// point.
Json series_json(int run, const std::string& name, const std::vector<SeriesBucket>& buckets);
// Load and memory of this machine.
Json system_json();

}  // namespace retrace
