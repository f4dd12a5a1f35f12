// The subcommand table, and the one place where errors become exit codes. The only file that includes CLI11.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/options.h"
#include "retrace/cli/cli.h"
#include "retrace/cli/output.h"
#include "retrace/distributed/group_errors.h"
#include "retrace/distributed/launcher.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/trace/record.h"

namespace retrace::cli {
namespace {

struct Arguments {
  TrainOptions train;
  PredictOptions predict;
  CompareOptions compare;
  PlanOptions plan;
  InfoOptions info;
  DataOptions data;
};

// An option that may not be left out. CLI11's own check would come before the one for unknown flags, which explains
// more: a misspelt --input is both.
struct Required {
  const CLI::App* command;
  const CLI::Option* option;
  std::string what;
};

class Table {
 public:
  Table() : app_("Train neural networks and get the same bits every time.", "retrace") {
    app_.set_version_flag("--version", std::string("retrace ") + RETRACE_VERSION);
    app_.allow_extras();
    add_train(), add_predict(), add_compare(), add_plan(), add_info(), add_data();
  }
  int run(int argc, const char* const* argv);

 private:
  CLI::App* command(CLI::App& parent, const char* name, const char* what) {
    auto* made = parent.add_subcommand(name, what);
    made->allow_extras();
    return made;
  }
  void require(const CLI::App* command, const CLI::Option* option, const char* what) {
    required_.push_back({command, option, what});
  }
  void add_json(CLI::App* command, bool& json, const char* what) {
    command->add_flag("--json", json, what)->disable_flag_override();
  }
  void add_settings(CLI::App* command, JobSettings& settings) {
    command->add_option("--set", settings.settings, "replaces a key of the job; may be repeated")
        ->expected(1)
        ->take_all()
        ->type_name("KEY=VALUE");
    command->add_option("--threads", settings.threads, "number of threads; changes no bit of the result")
        ->type_name("N");
    command->add_option("--device", settings.device, "cpu, cuda (or gpu), cuda:N, cuda:N,M or auto")->type_name("NAME");
    command->add_option("--seed", settings.seed, "seed of the job")->type_name("N");
  }

  void add_train() {
    auto* train = command(app_, "train", "train the network of a job file");
    require(train, train->add_option("JOB", arguments_.train.job, "job file (TOML)")->type_name(""), "the job file");
    add_settings(train, arguments_.train.settings);
    train->add_option("--workers", arguments_.train.workers, "workers that share each mini-batch; changes no bit")
        ->type_name("N");
    train->add_option("--devices", arguments_.train.settings.devices, "CUDA devices that the workers have in turn")
        ->excludes("--device")
        ->type_name("N,M");
    train
        ->add_option("--timeout", arguments_.train.settings.timeout,
                     "seconds to wait for a worker without a sign of life")
        ->type_name("SECONDS");
    train->add_option("--out", arguments_.train.out, "run folder; without it runs/JOB-N with the next free N")
        ->type_name("DIR");
    add_json(train, arguments_.train.json, "print the result as one JSON object, the last line");
    train->footer(
        "Weights are written after every epoch. Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 end after the iteration and keep "
        "them;\n"
        "a second Ctrl-C ends at once. Exit codes: 0 finished, 2 usage or job, 3 the loss is not finite, 65 bad data,\n"
        "66 input missing, 69 device or memory absent, 74 output failed, 77 a rank was lost, 128+N signal N.");
  }

  void add_predict() {
    auto* predict = command(app_, "predict", "classes, scores and angles of images, by a trained run");
    require(predict, predict->add_option("RUN", arguments_.predict.run, "run folder")->type_name(""), "the run folder");
    require(
        predict,
        predict->add_option("--input", arguments_.predict.input, "IDX file of images, gzip or not")->type_name("FILE"),
        "the IDX file of images");
    predict->add_option("--output", arguments_.predict.output, "CSV file to write (out.csv); - is standard output")
        ->type_name("FILE");
  }

  void add_compare() {
    auto* compare = command(app_, "compare", "where two runs part; exit code 0 if equal, 76 if different");
    require(compare, compare->add_option("RUN", arguments_.compare.a, "run folder or safetensors file")->type_name(""),
            "the first run");
    require(compare, compare->add_option("RUN2", arguments_.compare.b, "the run to compare it with")->type_name(""),
            "the second run");
    add_json(compare, arguments_.compare.json, "print the comparison as one JSON object");
  }

  void add_plan() {
    auto* plan = command(app_, "plan", "the trace and the plan of a job's training step");
    require(plan, plan->add_option("JOB", arguments_.plan.job, "job file (TOML)")->type_name(""), "the job file");
    add_settings(plan, arguments_.plan.settings);
    plan->add_flag("--passes", arguments_.plan.passes, "what each pass changes, instead of the trace after them");
    plan->add_flag("--why", arguments_.plan.why, "each kernel call: what was fused into it, and why not more");
  }

  void add_info() {
    auto* info = command(app_, "info", "version, processor, threads, devices, libraries, and what is absent");
    add_json(info, arguments_.info.json, "print it as one JSON object");
  }

  void add_data() {
    auto* data = command(app_, "data", "write a built-in data set");
    auto* digits = command(*data, "digits", "IDX files of the digits, and a PNG contact sheet to look at");
    require(digits, digits->add_option("--out", arguments_.data.out, "folder to write into")->type_name("DIR"),
            "the folder to write into");
  }

  // The named subcommand, innermost; the command itself if there is none.
  const CLI::App& chosen() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  void check_extras() const;
  void check_complete() const;
  void check_not_empty() const;
  int dispatch() const;

  CLI::App app_;
  Arguments arguments_;
  std::vector<Required> required_;
};

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Error unknown_word(const CLI::App& app, const std::string& word) {
  const bool flag = word.size() > 1 && word[0] == '-';
  const std::string name = flag ? word.substr(0, word.find('=')) : word;
  const auto known = flag ? flags_of(app) : commands_of(app);
  const char* const kind = flag ? "flag" : known.empty() ? "argument" : "command";
  Error error(ErrorKind::usage, 701, fmt::format("{} has no {} {}", full_name(app), kind, printable(name)));
  const auto near = nearest(name, known);
  if (!near.empty()) return error.help(fmt::format("did you mean {}?", near));
  return error.help(known.empty()
                        ? fmt::format("{} --help shows how it is used", full_name(app))
                        : fmt::format("there {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", ")));
}

// All unknown flags at once; other surplus words only if there is none, since they may be values of those.
void Table::check_extras() const {
  const auto extras = app_.remaining(true);
  std::vector<Error> errors;
  // Where a command is missing, the first word was meant as one, and flags are that command's.
  if (!extras.empty() && !commands_of(chosen()).empty() && (extras[0].empty() || extras[0][0] != '-'))
    throw unknown_word(chosen(), extras[0]);
  for (const auto& word : extras)
    if (word.size() > 1 && word[0] == '-' && word != "--") errors.push_back(unknown_word(chosen(), word));
  throw_all(errors);
  for (const auto& word : extras)
    if (word != "--") throw unknown_word(chosen(), word);
}

void Table::check_complete() const {
  const auto& app = chosen();
  if (const auto names = commands_of(app); !names.empty())
    throw Error(ErrorKind::usage, 702, fmt::format("{} needs a command", full_name(app)))
        .expected(fmt::format("{}", fmt::join(names, ", ")))
        .help(fmt::format("{} --help says what they do", full_name(app)));
  std::vector<Error> errors;
  for (const auto& one : required_)
    if (one.command == &app && one.option->count() == 0)
      errors.push_back(
          Error(ErrorKind::usage, 702, fmt::format("{} needs {}: {}", full_name(app), one.option->get_name(), one.what))
              .help(fmt::format("{} --help shows how it is used", full_name(app))));
  throw_all(errors);
}

void Table::check_not_empty() const {
  for (const auto* option : chosen().get_options())
    for (const auto& value : option->results())
      if (value.empty()) throw Error(ErrorKind::usage, 703, fmt::format("{} is empty", option->get_name()));
}

int Table::dispatch() const {
  const std::string name = chosen().get_name();
  if (name == "train") return train(arguments_.train);
  if (name == "predict") return predict(arguments_.predict);
  if (name == "compare") return compare(arguments_.compare);
  if (name == "plan") return plan(arguments_.plan);
  if (name == "info") return info(arguments_.info);
  return data_digits(arguments_.data);
}

// CLI11's text, in plain words where it has none.
std::string explained(const std::string& text) {
  const size_t at = text.find(" was given a disallowed flag override");
  return printable(at == std::string::npos ? text : "--" + text.substr(0, at) + " takes no value");
}

int Table::run(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print(app_.help()), 0;
  } catch (const CLI::CallForVersion& version) {
    return print(version.what() + std::string("\n")), 0;
  } catch (const CLI::ParseError& error) {
    // A value is missing or surplus. An unknown flag explains it better, if there is one.
    check_extras();
    throw Error(ErrorKind::usage, 703, explained(error.what()));
  }
  check_extras();
  check_complete();
  check_not_empty();
  return dispatch();
}

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
    print(fmt::format("{{\"error\":{{\"code\":\"RT{:04}\",\"exit_code\":{},\"message\":{},\"text\":{}}}}}\n",
                      error.code(), exit_code(error.kind()), json_text(error.message()), json_text(error.what())));
  } catch (const Error&) {  // standard output is closed: standard error has said what is wrong
  }
}

int run_command(int argc, const char* const* argv) {
  try {
    set_warning_handler([](const std::string& text) { complain("warning: " + text); });
    warn_of_variables();
    return Table().run(argc, argv);
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
