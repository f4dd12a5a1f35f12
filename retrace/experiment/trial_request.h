#pragma once
// What users want of single trials, also while a sweep makes them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "retrace/experiment/experiment.h"

namespace retrace {

struct TrialRequest {
  enum class What {
    cancel,   // the trial ends; what it reported stays
    restart,  // it is made anew, with the same parameters and seed
    note,     // its note is replaced
  };
  What what = What::note;
  int64_t trial = 0;
  std::string text = {};
};

// Whether the request means anything for a trial in that state: an ended trial cannot be cancelled, one that is to be
// made needs no restart.
bool fits(const TrialRequest& request, TrialState state);
// Changes the trial as it is wanted. One that is made anew loses its run in `folder`, the study's.
void apply(const TrialRequest& request, TrialRecord& trial, const std::filesystem::path& folder);

// Does it to the study in `folder`; where a sweep writes it, leaves the requests to the sweep, which looks for them
// every second. Errors: usage for trials that are not there, or in a state that the request does not fit; as Study.
void request_trials(const std::filesystem::path& folder, const std::vector<TrialRequest>& requests);
// Takes the requests that were left, in the order of their arrival.
std::vector<TrialRequest> take_requests(const std::filesystem::path& folder);

}  // namespace retrace
