#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/options.h"
#include "retrace/cli/command.h"
#include "retrace/cli/output.h"
#include "retrace/train/versions.h"

namespace retrace::cli {
namespace {

std::string info_text(const Versions& v) {
  std::string text = fmt::format(
      "retrace   {}\ncontract  {}\ncompiler  {}\ncpu       {}\nsimd      {} (this machine runs {})\nthreads   {}\n",
      v.retrace, v.contract, v.compiler, v.cpu, v.simd_target, joined(v.simd_targets, ", "), v.threads);
  for (const auto& device : v.devices)
    text += fmt::format("device    {}{}\n", device.name, device.available ? "" : ": absent, " + device.detail);
  for (const auto& [name, version] : v.libraries) text += fmt::format("library   {} {}\n", name, version);
  for (const auto& row : environment_table())
    text += fmt::format("variable  {}={} ({}; {})\n", row.name, printable(environment(row.variable)), row.values,
                        row.purpose);
  return text;
}

void describe_info(Flags& flags) {
  const auto json = std::make_shared<bool>(false);
  flags.flag("--json", *json, "print it as one JSON object");
  flags.action([json] {
    const Versions versions = current_versions("cpu");
    print(*json ? versions_json(versions) + "\n" : info_text(versions));
    return 0;
  });
}

}  // namespace

CommandKind info_command() {
  return {.name = "info",
          .help = "version, processor, threads, devices, libraries, and what is absent",
          .describe = describe_info};
}

}  // namespace retrace::cli
