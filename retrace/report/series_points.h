#pragma once
// The points of one series in memory: 8 bytes a point where x is evenly spaced, next to nothing where the values are
// equal, too.

#include <cstdint>
#include <vector>

#include "retrace/report/series.h"

namespace retrace {

class SeriesPoints {
 public:
  // A point whose x is not finite is left out. Points may come in any order of x; those of one x stay in theirs.
  void add(double x, double y);
  // Removes the points whose x is not below.
  void cut(double x);
  SeriesInfo info(const std::string& name);
  // As SeriesSource::read().
  std::vector<SeriesBucket> read(double x_from, double x_to, size_t most);
  size_t bytes() const;

 private:
  // kChunk points, of the last chunk fewer. x and y of a full one are left out where they follow from the other
  // members.
  struct Chunk {
    std::vector<double> x, y;
    double x_first = 0, x_step = 0, y_all = 0;
    double minimum = 0, maximum = 0, sum = 0;  // of the finite values
    uint32_t points = 0, finite = 0;

    double x_at(size_t i) const { return x.empty() ? x_first + static_cast<double>(i) * x_step : x[i]; }
    double y_at(size_t i) const { return y.empty() ? y_all : y[i]; }
    void add(double x, double y);
    void shrink();
  };

  void append(double x, double y);
  void sort();
  // The number of the first point whose x is not below; with `after`: above.
  uint64_t find(double x, bool after) const;
  SeriesBucket bucket(uint64_t begin, uint64_t end) const;
  double x_at(uint64_t i) const;

  std::vector<Chunk> chunks_;
  uint64_t points_ = 0;
  bool sorted_ = true;
};

}  // namespace retrace
