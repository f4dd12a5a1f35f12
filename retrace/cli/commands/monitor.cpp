#include <fmt/format.h>
#include <poll.h>

#include <charconv>

#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/cli/stop_signals.h"
#include "retrace/train/run_storage.h"
#include "retrace/web/run_server.h"

namespace retrace::cli {
namespace {

struct MonitorCommandOptions {
  std::vector<std::filesystem::path> runs;
  std::string host = "127.0.0.1", port = "6006";
  bool json = false, quiet = false;
};

int port_of(const std::string& text) {
  int port = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc() || end != text.data() + text.size() || port < 0 || port > 65535)
    throw Error(ErrorKind::usage, 784, "port must be a number from 0 to 65535")
        .got(text)
        .help("0 takes any that is free");
  return port;
}

int monitor(const MonitorCommandOptions& options) {
  RunServerOptions server{.runs = {}, .address = options.host, .port = port_of(options.port)};
  for (const auto& run : options.runs) server.runs.push_back(run_on_disk(run));
  if (server.runs.empty()) server.runs = {"runs"};
  const StopSignals signals(false, false);
  const RunServer pages(server);
  if (!options.host.starts_with("127.") && options.host != "::1")
    complain(
        "the page is served to other machines, without encryption: whoever has its address may see and stop the runs");
  if (options.json)
    print(Json::object({{"url", pages.url()}}).text() + "\n");
  else
    print(fmt::format("{}\n", pages.url()));
  if (!options.quiet) complain("open this address in a browser; Ctrl-C ends");
  while (StopSignals::received() == 0) ::poll(nullptr, 0, 200);
  return 0;
}

void describe_monitor(Flags& flags) {
  const auto options = std::make_shared<MonitorCommandOptions>();
  flags.words("RUNS", options->runs, "run folders, folders that hold some, or folders of TensorBoard (runs)");
  flags.option("--port", "N", options->port, "port of the page (6006); 0: any that is free");
  flags.option("--host", "ADDRESS", options->host,
               "address of this machine (127.0.0.1); with another one the page can be seen from other machines");
  flags.flag("--json", options->json, "print the address as one JSON object");
  flags.flag("--quiet", options->quiet, "print the address alone");
  flags.footer(
      "The address holds a token: it is for you alone. From another machine: ssh -L 6006:127.0.0.1:6006 HOST, and the\n"
      "same address in your browser.");
  flags.action([options] { return monitor(*options); });
}

}  // namespace

CommandKind monitor_command() {
  return {
      .name = "monitor", .help = "a live page of runs: curves, standing, stop, notes", .describe = describe_monitor};
}

}  // namespace retrace::cli
