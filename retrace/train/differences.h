#pragma once
// Metrics that are sums over the elements of a set.

#include "retrace/train/metric_kind.h"

namespace retrace {

// One number a sample: the sum, in ascending order and from 0, of term(y, t) over its elements, each made binary64.
std::vector<double> sums_of_samples(const MetricBatch& batch, double (*term)(double y, double t));
// Those sums added in the order of the samples, from 0, and divided by the number of all elements.
double mean_of_elements(const MetricNumbers& sums);

}  // namespace retrace
