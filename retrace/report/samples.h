#pragma once
// What a run makes of samples of its test set, with pictures where they are images.

#include <filesystem>
#include <string>

namespace retrace {

// HTML: the first samples, and of images also the first mistakes among the first 500. Errors: those of reading the job,
// the weights and the data of the run.
std::string samples_html(const std::filesystem::path& run);

}  // namespace retrace
