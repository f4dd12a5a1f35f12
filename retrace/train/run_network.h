#pragma once
// The network of a run that a program started, RUN/network.toml: what a job says of its network in job.toml.

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/nn/networks.h"
#include "retrace/train/job.h"

namespace retrace {

// A run as it is tested and asked. The job says what can be known of settings and data.
struct TrainedRun {
  Job job;
  nn::Network network;  // its parameters and state are starting values
};

// The text of the file, a section [network]: the shape of a sample, the layers as in a job file, the outputs, and what
// each of them is; where no text can say the layers, why. A loss that is a function has no name.
std::string run_network_text(const nn::Network& network);

// The run of a job or of a program, to measure samples. The job of a program's run has the settings of training.toml,
// and, if `overrides` name a source (data.source), data of it for a network of these layers: outputs have the names of
// its targets. Errors: those of read_job(); missing for a run that keeps no network; bad_data, with the file; usage for
// layers that no text can say, and where no source is named.
TrainedRun read_run_to_test(const std::filesystem::path& run, const std::vector<JobOverride>& overrides = {});
// The same to predict samples of a file: of a program's run the data are files of features, or of images.
TrainedRun read_run_to_predict(const std::filesystem::path& run);

}  // namespace retrace
