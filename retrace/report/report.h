#pragma once
// The page of a run.

#include <filesystem>
#include <string>

namespace retrace {

struct ReportOptions {
  // Reads weights and test set: the confusion matrix and the measures of every class of the weights in the folder, and
  // samples with what the network makes of them. Where that fails, the page says why. Else a confusion matrix is that
  // of the last validation, if training.metrics asks for one.
  bool measure = true;
};

// One page in HTML that needs no network, no script and no other file: the result, curves, confusion matrix, samples,
// what it ran on, the job, fingerprints. All texts of the user are escaped. The run may still go on. Errors: missing,
// for a folder that holds no run; those of damaged files of the run.
std::string report_html(const std::filesystem::path& run, const ReportOptions& options = {});

// The same into a file, RUN/report.html where `out` is empty; returns its path. Errors: also output, and usage for an
// output that is another file of a run.
std::filesystem::path write_report(const std::filesystem::path& run, const std::filesystem::path& out = {},
                                   const ReportOptions& options = {});

}  // namespace retrace
