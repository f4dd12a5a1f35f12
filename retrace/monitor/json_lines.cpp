#include "retrace/monitor/json_lines.h"

#include "retrace/monitor/json_metrics.h"

namespace retrace {
namespace {

// Of other modes than the reproducible one.
void add_mode(std::vector<Json::Member>& members, const std::string& mode) {
  if (mode != "reproducible") members.emplace_back("mode", mode);
}

Json json_of(const RunStarted& e) {
  std::vector<Json::Member> members{{"event", e.iteration == 0 ? "started" : "resumed"}};
  if (e.iteration > 0) members.emplace_back("iteration", e.iteration);
  members.insert(members.end(), {{"schema", kEventSchema},
                                 {"job", e.job},
                                 {"device", e.device},
                                 {"workers", e.workers},
                                 {"threads", e.threads},
                                 {"epochs", e.epochs},
                                 {"iterations_per_epoch", e.iterations_per_epoch},
                                 {"parameters", e.parameters},
                                 {"run_dir", e.run_dir}});
  add_mode(members, e.mode);
  return Json::object(members);
}

Json json_of(const StepDone& e) {
  return Json::object({{"event", "step"},
                       {"epoch", e.epoch},
                       {"iteration", e.iteration},
                       {"loss", e.loss},
                       {"learn_rate", e.learn_rate},
                       {"seconds", e.seconds}});
}

Json json_of(const EpochDone& e) {
  return Json::object({{"event", "epoch"},
                       {"epoch", e.epoch},
                       {"iteration", e.iteration},
                       {"loss", e.loss},
                       {"complete", e.complete},
                       {"seconds", e.seconds}});
}

Json json_of(const ValidationDone& e) {
  return Json::object({{"event", "validation"},
                       {"epoch", e.epoch},
                       {"iteration", e.iteration},
                       {"validation_loss", e.loss},
                       {"metrics", json_metrics(e.metrics, e.tables)},
                       {"seconds", e.seconds}});
}

Json json_of(const RunFinished& e) {
  std::vector<Json::Member> members{{"event", "finished"},
                                    {"epoch", e.epoch},
                                    {"iteration", e.iteration},
                                    {"validation_loss", e.loss},
                                    {"metrics", json_metrics(e.metrics, e.tables)},
                                    {"seconds", e.seconds},
                                    {"stop_reason", e.stop_reason},
                                    {"fingerprint", e.fingerprint}};
  add_mode(members, e.mode);
  if (!e.cause.empty()) members.emplace_back("cause", e.cause);
  return Json::object(members);
}

}  // namespace

std::string event_json(const Event& event) {
  return std::visit([](const auto& record) { return json_of(record).text(); }, event);
}

}  // namespace retrace
