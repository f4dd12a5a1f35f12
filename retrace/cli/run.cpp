// The one place where errors become exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/json.h"
#include "retrace/base/options.h"
#include "retrace/cli/cli.h"
#include "retrace/cli/command_table.h"
#include "retrace/cli/output.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/launcher.h"
#include "retrace/trace/record.h"

namespace retrace::cli {
namespace {

// A misspelt variable would be ignored in silence.
void warn_of_variables() {
  std::vector<std::string> known;
  for (const auto& row : environment_table()) known.emplace_back(row.name);
  for (const auto& name : unknown_environment_variables())
    if (const auto near = nearest(name, known); !near.empty())
      complain(
          fmt::format("warning: the environment variable {} has no meaning; did you mean {}?", printable(name), near));
}

// Ranks often find the same wrong, and mpirun ends all with the first one. So the first rank speaks at once, and the
// others if they are still there a moment later; who only says that another rank failed waits until that one has
// spoken.
void complain_among_ranks(const Error& error) try {
  using namespace std::chrono_literals;
  const Launcher launcher = detect_launcher();
  if (launcher.size == 1) return complain(error.what());
  const bool echo = error.code() == 610 || (error.code() == kDifferentWorkers && launcher.rank > 0);
  if (echo || launcher.rank > 0) std::this_thread::sleep_for(echo ? 5s : 2s);
  complain(launcher.rank == 0 ? error.what() : fmt::format("rank {}: {}", launcher.rank, error.what()));
} catch (const std::bad_alloc&) {
  complain(error.what());
}

// One object on standard output, if --json was given; the text goes to standard error in any case.
void print_error_json(int argc, const char* const* argv, const Error& error) {
  if (std::none_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; })) return;
  try {
    const Json about = Json::object({{"code", fmt::format("RT{:04}", error.code())},
                                     {"exit_code", exit_code(error.kind())},
                                     {"message", error.message()},
                                     {"text", error.what()}});
    print(Json::object({{"error", about}}).text() + "\n");
  } catch (const Error&) {  // standard output is closed: standard error has said what is wrong
  }
}

int run_command(int argc, const char* const* argv) {
  try {
    set_warning_handler([](const std::string& text) { complain("warning: " + text); });
    warn_of_variables();
    return CommandTable().run(argc, argv);
  } catch (const Error& error) {
    complain_among_ranks(error);
    if (detect_launcher().rank == 0) print_error_json(argc, argv, error);
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    complain(fmt::format("error[RT0999]: {}\n  help:     this is a defect of retrace: please report it", error.what()));
    return exit_code(ErrorKind::internal);
  }
}

}  // namespace

int run(int argc, const char* const* argv) {
  guard_standard_streams();
  try {
    return run_command(argc, argv);
  } catch (const std::bad_alloc&) {  // of a text of an error too
    complain(
        "error[RT0711]: there is not enough memory\n"
        "  help:     fewer --workers or --threads, a smaller network or training.mini_batch_size, "
        "RETRACE_MEMORY_LIMIT, or a larger limit (ulimit -v, that of the container)");
    return exit_code(ErrorKind::unavailable);
  }
}

}  // namespace retrace::cli
