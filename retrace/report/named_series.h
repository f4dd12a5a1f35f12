#pragma once
// Series by their names.

#include <map>
#include <string>
#include <vector>

#include "retrace/report/series_points.h"

namespace retrace {

// In the order in which they came; at most 10,000 of them: files may be anybody's.
class NamedSeries {
 public:
  void add(const std::string& name, double x, double y);
  // Of all series.
  void cut(double x);
  void clear();
  void append_to(std::vector<SeriesInfo>& list);
  // Null where there is none of that name.
  SeriesPoints* find(const std::string& name);
  size_t bytes() const;

 private:
  std::map<std::string, size_t> places_;
  std::vector<std::pair<std::string, SeriesPoints>> series_;
};

}  // namespace retrace
