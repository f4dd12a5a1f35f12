#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/cluster_check.h"

namespace retrace::cli {
namespace {

struct ClusterOptions {
  std::filesystem::path profile;
  std::string workers;
  bool json = false;
};

int number_of_cluster(const std::string& text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty()) return 0;
  if (failure != std::errc() || end != text.data() + text.size() || number < 1)
    throw Error(ErrorKind::usage, 714, "the number of workers must be 1 or more").where("--workers").got(text);
  return number;
}

std::string check_text(const ClusterCheck& check) {
  size_t longest = 4;
  for (const auto& node : check.nodes) longest = std::max(longest, printable(node.host).size());
  std::string text = fmt::format("{:<6}  {:<{}}  {:>5}  {:<9}  {:<8}  {:>10}  {}\n", "worker", "host", longest, "cores",
                                 "retrace", "simd", "clock", "fingerprint");
  for (size_t i = 0; i < check.nodes.size(); ++i) {
    const auto& node = check.nodes[i];
    text += fmt::format("{:<6}  {:<{}}  {:>5}  {:<9}  {:<8}  {:>+7.1f} ms  {}\n", i, printable(node.host), longest,
                        node.cores, node.version, node.simd_target, node.clock * 1e3, node.fingerprint);
  }
  text += fmt::format("barrier  {:.1f} us\n", check.barrier * 1e6);
  for (const auto& [bytes, seconds] : check.gathers)
    text += fmt::format("all_gather of {:>5} KiB from each  {:>9.1f} us  {:>8.1f} MB/s\n", bytes >> 10, seconds * 1e6,
                        static_cast<double>(bytes) * static_cast<double>(check.nodes.size() - 1) / seconds / 1e6);
  for (const auto& one : check.differences) text += fmt::format("different: {}\n", one);
  return text + (check.differences.empty() ? "the workers have the same bits\n" : "");
}

std::string check_json(const ClusterCheck& check) {
  const auto worker = [](const ClusterNode& node) {
    return Json::object({{"host", node.host},
                         {"cores", node.cores},
                         {"version", node.version},
                         {"contract_version", node.contract},
                         {"simd_target", node.simd_target},
                         {"clock_seconds", node.clock},
                         {"fingerprint", node.fingerprint}});
  };
  const auto gather = [](const auto& row) { return Json::object({{"bytes", row.first}, {"seconds", row.second}}); };
  return Json::object({{"workers", Json::list(check.nodes, worker)},
                       {"barrier_seconds", check.barrier},
                       {"all_gather", Json::list(check.gathers, gather)},
                       {"differences", Json::list(check.differences, [](const auto& text) { return Json(text); })}})
      .text();
}

int check(const ClusterOptions& options) {
  Pool pool = Pool::from_profile(options.profile.string(), number_of_cluster(options.workers), {}, {});
  const ClusterCheck result = check_cluster(pool);
  if (pool.is_first()) print(options.json ? check_json(result) + "\n" : check_text(result));
  return result.differences.empty() ? 0 : kDifferent;
}

void describe_cluster(Flags& flags) {
  const auto options = std::make_shared<ClusterOptions>();
  Flags command =
      flags.subcommand("check", "starts the workers of a profile, and says what they are and what they cost");
  command.optional("PROFILE", options->profile, "cluster profile; without it the default one");
  command.option("--workers", "N", options->workers, "so many of its workers; without it all");
  command.flag("--json", options->json, "print it as one JSON object");
  command.action([options] { return check(*options); });
}

}  // namespace

CommandKind cluster_command() {
  return {
      .name = "cluster", .help = "look at the workers of a cluster profile before a run", .describe = describe_cluster};
}

}  // namespace retrace::cli
