#pragma once
// What a trained run makes of samples, as a table in CSV.

#include <cstdint>
#include <string>
#include <vector>

#include "retrace/nn/networks.h"
#include "retrace/train/class_names.h"
#include "retrace/train/prediction_inputs.h"

namespace retrace {

// The columns of the outputs for some samples, and their values row by row: a row for each sample, or, where an output
// has numbers at each position of a series, for each of its positions that are no padding. Of token scores the text of
// the best path.
class PredictionTable {
 public:
  // classes: their names, or none. Network and inputs must outlive it.
  PredictionTable(const Job& job, const nn::Network& network, const PredictionInputs& inputs, ClassNames classes);

  // The outputs of the next `count` samples.
  void add(const Tree& y, int64_t count);
  int64_t rows() const { return rows_; }
  std::string take() { return std::move(csv_); }

 private:
  struct Made {  // of an output
    std::vector<float> values;
    int64_t width = 0, positions = 1;
  };
  bool is_class(size_t output) const;
  bool has_positions(size_t output) const;
  std::string header(const Tree& y) const;
  void add_row(const std::vector<Made>& made, int64_t i, int64_t position);
  void add_class(int64_t number);
  std::string tokens(const Made& made, int64_t i) const;

  const Job job_;
  const nn::Network& network_;
  const PredictionInputs& inputs_;
  const ClassNames classes_;
  std::string csv_;
  bool by_position_ = false;
  int64_t rows_ = 0, samples_ = 0;
};

}  // namespace retrace
