#include "retrace/web/run_server.h"

#include <fmt/format.h>

#include <unordered_map>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/report/parting.h"
#include "retrace/train/stop_request.h"
#include "retrace/web/access.h"
#include "retrace/web/curves.h"
#include "retrace/web/http_server.h"
#include "retrace/web/page_files.h"
#include "retrace/web/request_numbers.h"
#include "retrace/web/run_json.h"
#include "retrace/web/study_answers.h"

namespace retrace {
namespace {

constexpr uint64_t kMostText = 1 << 20;
constexpr std::chrono::milliseconds kFarewell(1500);  // pages read curves once in a second

WebResponse json(const Json& value) { return json_response(value.text()); }

// Read before the page is asked for: of many runs, this is what takes longest.
RunList read_list(const std::vector<std::filesystem::path>& roots) {
  RunList list(roots);
  list.refresh();
  return list;
}

bool is_local(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace

// All of it but the constructor runs on the thread of the server.
class RunServer::Pages {
 public:
  explicit Pages(const RunServerOptions& options)
      : list_(read_list(options.runs)),
        address_(options.address),
        access_(!is_local(options.address)),
        server_(
            {options.address, options.port, options.shows_end ? kFarewell : std::chrono::milliseconds(0)},
            [this](const WebRequest& request) { return answer(request); }, [this] { return changes(); }) {}

  std::string url() const {
    const std::string host = address_ == "::1" || address_ == "::" ? "[::1]"
                             : address_ == "0.0.0.0"               ? "127.0.0.1"
                                                                   : address_;
    return fmt::format("http://{}:{}/?token={}", host, server_.port(), access_.token());
  }

 private:
  WebResponse answer(const WebRequest& request) {
    try {
      if (auto refused = access_.check(request)) return *refused;
      return request.method == "POST" ? change(request) : read(request);
    } catch (const Error& error) {
      return error_response(500, error.message());
    }
  }

  WebResponse read(const WebRequest& request) {
    const std::string path = request.path == "/" ? "/page.html" : request.path;
    for (const PageFile& file : page_files())
      if (file.path == path) return {.type = std::string(file.type), .body = file.text()};
    if (path == "/api/runs") return all_runs();
    if (path == "/api/events") return {.type = "text/event-stream", .body = ": here\n\n", .stream = true};
    if (path == "/api/studies") return studies_.list(list_.studies());
    if (const auto* study = study_in(request)) return read_study(*study, path);
    if (path == "/api/series") return json_response(curves_.series(list_, request));
    const ListedRun* const run = list_.find(number_in<int64_t>(request, "run", 0));
    if (path == "/api/job" && run) return job(*run);
    if (path == "/api/parting" && run) return parting(*run, request);
    return error_response(404, path.starts_with("/api/") ? "there is no such run" : "there is no such page");
  }

  // Null where the request names none.
  const std::filesystem::path* study_in(const WebRequest& request) const {
    const auto number = number_in<uint64_t>(request, "study", 0);
    return number >= 1 && number <= list_.studies().size() ? &list_.studies()[number - 1] : nullptr;
  }

  WebResponse read_study(const std::filesystem::path& study, const std::string& path) {
    if (path == "/api/study") return studies_.table(study);
    if (path == "/api/trials.csv") return studies_.csv(study);
    if (path == "/api/best") return studies_.best_job(study);
    return error_response(404, "there is no such page");
  }

  WebResponse all_runs() {
    list_.refresh();
    return json(Json::object({{"runs", Json::list(list_.runs(), run_json)}, {"system", system_json()}}));
  }

  WebResponse job(const ListedRun& run) {
    for (const char* name : {"job.toml", "training.toml"}) {
      std::error_code failure;
      if (std::filesystem::is_regular_file(run.folder / name, failure))
        return {.body = read_file_start(run.folder / name, "job file", kMostText)};
    }
    return error_response(404, "this run has no job file");
  }

  WebResponse parting(const ListedRun& run, const WebRequest& request) {
    const ListedRun* const other = list_.find(number_in<int64_t>(request, "with", 0));
    if (!other) return error_response(404, "there is no such run");
    const Parting found = find_parting(run.folder, other->folder);
    return json(Json::object({{"common", found.common}, {"iteration", found.iteration}, {"what", found.what}}));
  }

  WebResponse change(const WebRequest& request) {
    std::error_code ignored;
    if (const auto* study = study_in(request); study && request.path == "/api/trial")
      return studies_.change(*study, number_in<int64_t>(request, "trial", 0), request.parameter("what"), request.body);
    const int64_t number = number_in<int64_t>(request, "run", 0);
    const ListedRun* const run = list_.find(number);
    if (!run) return error_response(404, "there is no such run");
    if (request.path == "/api/note") {
      list_.set_note(number, request.body);
      return json(Json::object({{"note", request.body}}));
    }
    if (request.path != "/api/stop") return error_response(404, "there is no such page");
    if (run->state != RunState::running && run->state != RunState::quiet)
      return error_response(409, "this run has ended");
    if (const auto study = run->folder.parent_path().parent_path();
        std::filesystem::exists(study / "study.sqlite", ignored))
      return error_response(409, fmt::format("this is a trial: retrace experiments {} --cancel {}", study.string(),
                                             number_from<int64_t>(run->folder.filename().string(), 0)));
    ask_to_stop(run->folder);
    return json(Json::object({{"stop_asked", true}}));
  }

  // An event with the runs that are not as they were told last; of the system alone at every second call.
  std::string changes() {
    list_.refresh();
    std::vector<Json> changed;
    for (const ListedRun& run : list_.runs()) {
      Json now = run_json(run);
      std::string& before = told_[run.number];
      if (before == now.text()) continue;
      before = now.text();
      changed.push_back(std::move(now));
    }
    const std::string system = system_json().text();
    if (!changed.empty()) curves_.forget();
    if (changed.empty() && (system == system_ || ++calls_ % 2 != 0)) return "";
    system_ = system;
    return fmt::format("data: {{\"runs\":{},\"system\":{}}}\n\n", Json::list(changed).text(), system);
  }

  RunList list_;
  Curves curves_;
  StudyAnswers studies_;
  std::unordered_map<int, std::string> told_;
  std::string system_;
  int calls_ = 0;  // of changes() that had nothing of a run to tell
  const std::string address_;
  const Access access_;
  HttpServer server_;  // last: its thread ends before the others do
};

RunServer::RunServer(const RunServerOptions& options) {
  if (page_files().empty())
    throw Error(ErrorKind::unavailable, 783, "retrace was built without its live page")
        .help("install libboost1.81-dev and libjs-dygraphs, and build it again; retrace report RUN needs neither");
  pages_ = std::make_unique<Pages>(options);
}
RunServer::~RunServer() = default;
std::string RunServer::url() const { return pages_->url(); }

}  // namespace retrace
