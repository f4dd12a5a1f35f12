#include "retrace/web/study_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/error.h"
#include "retrace/base/json.h"
#include "retrace/experiment/importance.h"
#include "retrace/experiment/study.h"
#include "retrace/experiment/trial_request.h"

namespace retrace {
namespace {

// Equal for tables of equal results.
std::string results_of(const TrialTable& table) {
  std::string text;
  for (const auto& trial : table.trials)
    if (std::isfinite(trial.value)) text += fmt::format("{} {}\n", trial.number, trial.value);
  return text;
}

std::string importance_json(const TrialTable& table) {
  return Json::list(
             importance(table),
             [](const Importance& one) { return Json::object({{"parameter", one.parameter}, {"share", one.share}}); })
      .text();
}

}  // namespace

WebResponse StudyAnswers::list(const std::vector<std::filesystem::path>& studies) const {
  int id = 0;
  return json_response(Json::object({{"studies", Json::list(studies,
                                                            [&](const auto& folder) {
                                                              return Json::object({{"id", ++id},
                                                                                   {"name", folder.filename().string()},
                                                                                   {"folder", folder.string()}});
                                                            })}})
                           .text());
}

WebResponse StudyAnswers::table(const std::filesystem::path& study) {
  const TrialTable table = read_trial_table(study);
  auto& [results, shares] = importances_[study.string()];
  if (std::string now = results_of(table); shares.empty() || now != results)
    results = std::move(now), shares = importance_json(table);
  return json_response(
      fmt::format("{{\"table\":{},\"importance\":{},\"written\":{}}}", table_json(table), shares, is_written(study)));
}

WebResponse StudyAnswers::csv(const std::filesystem::path& study) const {
  return {.type = "text/csv; charset=utf-8",
          .body = table_csv(read_trial_table(study)),
          .headers = {{"Content-Disposition", "attachment; filename=\"trials.csv\""}}};
}

WebResponse StudyAnswers::best_job(const std::filesystem::path& study) const {
  try {
    return {.body = best_of(read_trial_table(study)).job};
  } catch (const Error& error) {
    return error_response(404, error.message());
  }
}

WebResponse StudyAnswers::change(const std::filesystem::path& study, int64_t trial, const std::string& what,
                                 const std::string& text) const {
  TrialRequest request{.trial = trial, .text = text};
  if (what == "cancel")
    request.what = TrialRequest::What::cancel;
  else if (what == "restart")
    request.what = TrialRequest::What::restart;
  else if (what != "note")
    return error_response(404, "a trial can be cancelled, restarted, or noted");
  if (text.size() > 4096 || text.find_first_of("\n\r") != std::string::npos)
    return error_response(400, "a note of a trial is one line of at most 4096 bytes");
  try {
    request_trials(study, {request});
  } catch (const Error& error) {
    return error_response(error.kind() == ErrorKind::usage ? 409 : 500, error.message());
  }
  return json_response(Json::object({{"asked", what}}).text());
}

}  // namespace retrace
