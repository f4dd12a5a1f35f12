#pragma once
// A job file to start from, made from a look at the data.

#include <cstdint>
#include <string>

#include "retrace/tensor/shape.h"

namespace retrace {

struct JobStartOptions {
  std::string data;               // a folder with data that a source reads, or the name of a source that reads none
  std::string source = {};        // the name of the source that reads it; empty: the one that finds its files there
  std::string target = {};        // the column of a table that is learned; empty: the one that looks like it
  std::string network = {};       // a built-in network; empty: layers that fit the data
  std::string file = "job.toml";  // the name of the job file, for its comments and for messages
};

struct JobStart {
  std::string source;                     // what the data are read by
  int64_t samples = 0, test_samples = 0;  // of the training set and the test set
  Shape sample;                           // of one input
  int64_t classes = 0;                    // 0: values or images are learned
  std::string text;                       // of the job file, with comments
};

// Finds out what the folder holds, reads the sizes of samples and the number of classes from it, and writes a job that
// trains on it as it is. Errors: usage for data that are neither a folder nor such a source, for a folder without data
// and for one with data of several sources; those of the files; those of the job on its data, if the network does not
// fit; usage for a target of data that have no columns, bad_data for one that is not among them.
JobStart start_job(const JobStartOptions& options);

}  // namespace retrace
