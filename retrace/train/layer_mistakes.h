#pragma once
// What is wrong with a job's network of layers; used by job*.cpp.

#include "retrace/data/source_kind.h"
#include "retrace/train/job_check.h"

namespace retrace {

// Layers, outputs, and then, if nothing else is wrong, the shapes of what the layers make for samples of the source.
std::vector<Error> find_layer_mistakes(const Job& job, const GivenKeys& given, const SourceKind& source);

}  // namespace retrace
