// The subcommand table, and the one place where errors become exit codes.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <exception>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/cli/cli.h"
#include "retrace/trace/record.h"

namespace retrace::cli {
namespace {

struct Arguments {
  TrainOptions train;
  std::filesystem::path run, other_run, input, output = "out.csv", out;
  std::vector<std::string> settings;
  bool json = false;
};

void add_commands(CLI::App& app, Arguments& a) {
  auto* train = app.add_subcommand("train", "train the network of a job file");
  train->add_option("JOB", a.train.job, "job file (TOML)")->required();
  train->add_option("--set", a.train.settings, "key=value, replaces a key of the job")->take_all()->expected(1);
  train->add_option("--threads", a.train.threads, "number of threads; changes no bit of the result")->check(CLI::Range(1, 256));
  train->add_option("--device", a.train.device, "cpu, cuda, cuda:N or auto");
  train->add_option("--seed", a.train.seed, "seed of the job");
  train->add_option("--out", a.train.out, "run folder; without it runs/JOB-N");
  train->add_flag("--json", a.train.json, "print the result as one JSON object");

  auto* predict = app.add_subcommand("predict", "classes, scores and angles of images, by a trained run");
  predict->add_option("RUN", a.run, "run folder")->required();
  predict->add_option("--input", a.input, "IDX file of images")->required();
  predict->add_option("--output", a.output, "CSV file (out.csv)");

  auto* compare = app.add_subcommand("compare", "where two runs differ; exit code 0: equal, 76: different");
  compare->add_option("RUN", a.run, "run folder or safetensors file")->required();
  compare->add_option("RUN2", a.other_run, "the other")->required();
  compare->add_flag("--json", a.json, "print the comparison as one JSON object");

  auto* plan = app.add_subcommand("plan", "trace and plan of a job's training step");
  plan->add_option("JOB", a.run, "job file (TOML)")->required();
  plan->add_option("--set", a.settings, "key=value, replaces a key of the job")->take_all()->expected(1);

  auto* info = app.add_subcommand("info", "version, processor, threads, devices, libraries");
  info->add_flag("--json", a.json, "print it as one JSON object");

  auto* data = app.add_subcommand("data", "write a built-in data set");
  auto* digits = data->add_subcommand("digits", "IDX files and a PNG contact sheet of the digits");
  digits->add_option("--out", a.out, "folder")->required();
  data->require_subcommand(1);
  app.require_subcommand(1);
}

int dispatch(CLI::App& app, const Arguments& a) {
  if (app.got_subcommand("train")) return train(a.train);
  if (app.got_subcommand("predict")) return predict(a.run, a.input, a.output);
  if (app.got_subcommand("compare")) return compare(a.run, a.other_run, a.json);
  if (app.got_subcommand("plan")) return plan(a.run, a.settings);
  if (app.got_subcommand("info")) return info(a.json);
  return data_digits(a.out);
}

// Everything that may follow "retrace", or the subcommand that was named.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const auto* sub : app.get_subcommands({})) words.push_back(sub->get_name());
  const auto parsed = app.get_subcommands();
  for (const auto* option : (parsed.empty() ? &app : parsed[0])->get_options())
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  if (error.get_exit_code() == 0) return app.exit(error);
  Error text(ErrorKind::usage, 701, error.what());
  const auto known = known_words(app);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    const bool flag = word.starts_with("--"), command = i == 1 && !word.starts_with("-");
    if (!(flag || command) || std::find(known.begin(), known.end(), word) != known.end()) continue;
    text = Error(ErrorKind::usage, 701, fmt::format("unknown {} {}", flag ? "flag" : "command", printable(word)));
    const auto near = nearest(word, known);
    text.help(near.empty() ? "retrace --help lists what there is" : fmt::format("did you mean {}?", near));
    break;
  }
  fmt::print(stderr, "{}\n", text.what());
  return 2;
}

}  // namespace

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw Error(ErrorKind::output, 710, "standard output cannot be written: " + system_reason(errno));
}

int run(int argc, const char* const* argv) {
  set_warning_handler([](const std::string& text) { fmt::print(stderr, "warning: {}\n", text); });
  CLI::App app("Train neural networks and get the same bits every time.", "retrace");
  app.set_version_flag("--version", std::string("retrace ") + RETRACE_VERSION);
  Arguments arguments;
  add_commands(app, arguments);
  try {
    app.parse(argc, argv);
    return dispatch(app, arguments);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error[RT0711]: there is not enough memory\n  help:     use a smaller mini-batch\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error[RT0999]: {}\n", error.what());
    return 1;
  }
}

}  // namespace retrace::cli
