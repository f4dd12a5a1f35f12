#pragma once
// Curves of a run, read a piece at a time, so that a run of millions of steps can be looked at while it goes on.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace retrace {

struct SeriesInfo {
  std::string name;
  uint64_t points = 0;
  double x_first = 0, x_last = 0;
};

// Points that follow each other, as one. Values that are not finite count in `points` only: minimum, maximum and mean
// are those of the others, and NaN where there is none. `first` and `last` are the values of the first and the last
// point, NaN where that is not finite.
struct SeriesBucket {
  double x_first = 0, x_last = 0;
  double minimum = 0, maximum = 0, first = 0, last = 0, mean = 0;
  uint64_t points = 0;
};

// What is drawn of a run. One thread at a time.
class SeriesSource {
 public:
  virtual ~SeriesSource() = default;
  // Takes in what was written since the last call. True if there is anything new, or if less is there than before. What
  // cannot be read is left out; a file that is gone leaves what was read of it.
  virtual bool refresh() = 0;
  // Every series, in the order in which they appeared.
  virtual std::vector<SeriesInfo> list() = 0;
  // The points whose x is within [x_from, x_to], ascending, in at most `most` buckets of nearly equal numbers of
  // points; each is a bucket of its own where there are no more than `most`. No minimum or maximum is lost. Nothing for
  // a name that is not there.
  virtual std::vector<SeriesBucket> read(const std::string& name, double x_from, double x_to, size_t most) = 0;
  // The memory that it holds, in bytes.
  virtual size_t bytes() const = 0;
  // What could not be read, in one line; "" if all was.
  virtual std::string trouble() const { return {}; }
};

}  // namespace retrace
