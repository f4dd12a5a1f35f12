#pragma once
// The statistics of batch norms over all training data (docs/numerics/training.md 2).

#include <map>
#include <string>
#include <vector>

#include "retrace/tensor/tree.h"

namespace retrace {

// The moments of the mini-batches of a pass, norm by norm and channel by channel: in binary64, by the formula of Chan,
// Golub and LeVeque (1979), in the order in which they are added.
class PopulationMoments {
 public:
  // Of one mini-batch: trees of norms, each marked "moments".
  void add(const Tree& moments);
  // No norm was added.
  bool empty() const { return norms_.empty(); }
  // The state with the mean and the biased variance of each norm that was added, rounded once to the type of the state;
  // below 2^-126 they are +0.
  Tree statistics(const Tree& state) const;

 private:
  struct Norm {
    double count = 0;
    std::vector<double> mean, m2;
  };
  void add(const std::string& path, const Tree& moments);
  Tree with_statistics(const std::string& path, const Tree& state) const;

  std::map<std::string, Norm> norms_;  // by their paths
};

}  // namespace retrace
