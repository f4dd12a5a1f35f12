#include <fmt/format.h>

#include "retrace/base/json.h"
#include "retrace/cli/output.h"
#include "retrace/cli/settings.h"
#include "retrace/nn/analyze.h"
#include "retrace/train/train_job.h"

namespace retrace::cli {
namespace {

struct AnalyzeOptions {
  std::filesystem::path job;
  JobSettings settings;
  bool json = false;
};

Json json_of_analyze(const Shape& shape) {
  return Json::list(shape, [](int64_t extent) { return Json(extent); });
}

Json json_of_analyze(const nn::LayerSummary& layer) {
  return Json::object({{"name", layer.name},
                       {"type", layer.type},
                       {"output", json_of_analyze(layer.output)},
                       {"learnables", layer.learnables},
                       {"state", layer.state},
                       {"output_bytes", layer.output_bytes},
                       {"parts", Json::list(layer.parts, [](const std::string& part) { return Json(part); })}});
}

std::string json_of_analyze(const Job& job, const nn::Analysis& analysis) {
  return Json::object(
             {{"job", job.name},
              {"input", json_of_analyze(analysis.input)},
              {"layers", Json::list(analysis.layers, [](const auto& layer) { return json_of_analyze(layer); })},
              {"learnables", analysis.learnables},
              {"state", analysis.state},
              {"output_bytes", analysis.activation_bytes}})
             .text() +
         "\n";
}

int analyze(const AnalyzeOptions& options) {
  const Job job = read_job(options.job, overrides_of(options.settings));
  const auto analysis = nn::analyze(job.network);
  print(options.json ? json_of_analyze(job, analysis) : analysis.text());
  return 0;
}

void describe_analyze(Flags& flags) {
  const auto options = std::make_shared<AnalyzeOptions>();
  flags.argument("JOB", options->job, "job file (TOML)", "the job file");
  add_settings(flags, options->settings);
  flags.flag("--json", options->json, "print the table as one JSON object");
  flags.footer("Learnables and state are numbers of the whole network; output bytes are those of one sample.");
  flags.action([options] { return analyze(*options); });
}

}  // namespace

CommandKind analyze_command() {
  return {.name = "analyze",
          .help = "the layers of a job's network: shapes, learnables, memory; all mistakes before any step",
          .describe = describe_analyze};
}

}  // namespace retrace::cli
