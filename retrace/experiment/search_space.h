#pragma once
// The parameters of an experiment as points of a cube.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "retrace/data/random_stream.h"
#include "retrace/experiment/constraint.h"
#include "retrace/experiment/experiment.h"

namespace retrace {

// A number as text: the shortest that reads back to the same bits. Texts stand as they are, lists in brackets: as an
// override of a job has it.
std::string value_text(const OptionValue& value);
// A value that is a number; nothing for others.
std::optional<double> number_of(const OptionValue& value);

class SearchSpace {
 public:
  // A coordinate in [0, 1] for each parameter, in their order.
  using Point = std::vector<double>;

  // Errors: usage for parameters without values, ranges that are none, names that stand twice; constraints that are not
  // understood, or name parameters whose values are not all numbers.
  SearchSpace(std::vector<ExperimentParameter> parameters, const std::vector<std::string>& constraints);

  const std::vector<ExperimentParameter>& parameters() const { return parameters_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  // The values at a point. A number that is not whole has six digits, so that a table shows all of it.
  OptionValues values(const Point& point) const;
  // Values that were read from JSON, where 3.0 is 3, with the types of the parameters.
  OptionValues typed(const OptionValues& values) const;
  // A point where these values are. values(point(v)) is v for what values() made.
  Point point(const OptionValues& values) const;
  // Whether all constraints hold.
  bool feasible(const OptionValues& values) const;
  // Where a model of the values sees a point: one coordinate for a range or a list of numbers, one for each of other
  // values, 1 for the one that is taken.
  std::vector<double> features(const Point& point) const;

 private:
  std::vector<ExperimentParameter> parameters_;
  std::vector<Constraint> constraints_;
  std::vector<size_t> numeric_;  // the parameters that constraints know, in their order
};

// Uniform in [0, 1), 53 bits.
double unit_number(RandomStream& stream);
// A feasible point, uniform among those. Error(usage) if 10,000 tries find none.
SearchSpace::Point random_point(const SearchSpace& space, RandomStream& stream);

}  // namespace retrace
