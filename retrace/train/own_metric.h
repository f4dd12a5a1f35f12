#pragma once
// Metrics of a program, as those that have a file.

#include "retrace/train/metric_kind.h"
#include "retrace/train/train_network.h"

namespace retrace {

// The metrics of the options, in their order. Throws Error(usage) for a name that another metric of the network has, or
// that is none, and for an output that the network lacks.
std::vector<OwnMetricKind> own_metrics(const TrainNetworkOptions& options, const nn::Network& network, Place place);

}  // namespace retrace
