// The only file that includes CLI11.
#include "retrace/cli/command_table.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/cli/output.h"

namespace retrace::cli {

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  retrace init my.toml --data photos    writes a job for a folder of data: photos/cat/1.jpg, photos/dog/2.jpg\n"
    "  retrace train my.toml --epochs 5      trains it, into the folder runs/my-1\n"
    "  retrace predict runs/my-1 --input new --out out.csv\n"
    "  retrace train --resume runs/my-1      goes on with a training that was ended, to the same bits\n"
    "retrace help COMMAND shows the flags of a command.";

}  // namespace

void Flags::argument(const char* name, std::filesystem::path& value, const char* help, const char* what) {
  table_->required_.push_back({app_, app_->add_option(name, value, help)->type_name(""), what, nullptr});
}

void Flags::argument(const char* name, std::filesystem::path& value, const char* help, const char* what,
                     const char* flag) {
  auto* const option = app_->add_option(name, value, help)->type_name("");
  auto* const other = app_->get_option(flag);
  option->excludes(other);
  table_->required_.push_back({app_, option, what, other});
}

void Flags::optional(const char* name, std::filesystem::path& value, const char* help) {
  app_->add_option(name, value, help)->type_name("");
}

void Flags::words(const char* name, std::vector<std::filesystem::path>& values, const char* help) {
  app_->add_option(name, values, help)->type_name("");
}

void Flags::option(const char* name, const char* type, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->type_name(type);
}

void Flags::option(const char* name, const char* type, std::filesystem::path& value, const char* help) {
  app_->add_option(name, value, help)->type_name(type);
}

void Flags::required(const char* name, const char* type, std::filesystem::path& value, const char* help,
                     const char* what) {
  table_->required_.push_back({app_, app_->add_option(name, value, help)->type_name(type), what, nullptr});
}

void Flags::repeated(const char* name, const char* type, std::vector<std::string>& values, const char* help) {
  app_->add_option(name, values, help)->expected(1)->take_all()->type_name(type);
}

void Flags::flag(const char* name, bool& value, const char* help) {
  app_->add_flag(name, value, help)->disable_flag_override();
}

void Flags::exclude(const char* name, const char* other) { app_->get_option(name)->excludes(app_->get_option(other)); }
void Flags::footer(const char* text) { app_->footer(text); }

Flags Flags::subcommand(const std::string& name, std::string_view help) { return table_->add(*app_, name, help); }
void Flags::action(std::function<int()> run) { table_->actions_[app_] = std::move(run); }

CommandTable::CommandTable()
    : app_(std::make_unique<CLI::App>("Train neural networks and get the same bits every time.", "retrace")) {
  app_->set_version_flag("--version", std::string("retrace ") + RETRACE_VERSION);
  app_->allow_extras();
  for (const auto& command : all_commands()) {
    Flags flags = add(*app_, command.name, command.help);
    command.describe(flags);
  }
  app_->footer(kExamples);
}

CommandTable::~CommandTable() = default;

Flags CommandTable::add(CLI::App& parent, const std::string& name, std::string_view help) {
  auto* made = parent.add_subcommand(name, std::string(help));
  made->allow_extras();
  return {*this, *made};
}

// The named subcommand, innermost; the command itself if there is none.
const CLI::App& CommandTable::chosen() const {
  const CLI::App* app = app_.get();
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

namespace {

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
  return error.help(known.empty() ? fmt::format("{} --help shows how it is used", full_name(app))
                                  : fmt::format("there {} {}", known.size() == 1 ? "is" : "are", joined(known, ", ")));
}

// CLI11's text, in plain words where it has none.
std::string explained(const std::string& text) {
  const size_t at = text.find(" was given a disallowed flag override");
  return printable(at == std::string::npos ? text : "--" + text.substr(0, at) + " takes no value");
}

// `retrace help COMMAND` is `retrace COMMAND --help`, and `retrace version` is `retrace --version`.
std::vector<const char*> with_flags(std::vector<const char*> words) {
  const std::string_view first = words.size() > 1 ? words[1] : "";
  if (first == "version") words[1] = "--version";
  if (first != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

}  // namespace

// All unknown flags at once; other surplus words only if there is none, since they may be values of those.
void CommandTable::check_extras() const {
  const auto extras = app_->remaining(true);
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

void CommandTable::check_complete() const {
  const auto& app = chosen();
  if (const auto names = commands_of(app); !names.empty())
    throw Error(ErrorKind::usage, 702, fmt::format("{} needs a command", full_name(app)))
        .expected(joined(names, ", "))
        .help(fmt::format("{} --help says what they do", full_name(app)));
  std::vector<Error> errors;
  for (const auto& one : required_)
    if (one.command == &app && one.option->count() == 0 && !(one.other && one.other->count() > 0))
      errors.push_back(Error(ErrorKind::usage, 702,
                             fmt::format("{} needs {}: {}{}", full_name(app), one.option->get_name(), one.what,
                                         one.other ? ", or " + one.other->get_name() : ""))
                           .help(fmt::format("{} --help shows how it is used", full_name(app))));
  throw_all(errors);
}

void CommandTable::check_not_empty() const {
  for (const auto* option : chosen().get_options())
    for (const auto& value : option->results())
      if (value.empty())
        throw Error(ErrorKind::usage, 703, fmt::format("{} is empty", option->get_name()))
            .help("give it a value, or leave it out");
}

// CLI11 would look for the command among the words behind one that it does not know.
void CommandTable::check_commands(int argc, const char* const* argv) const {
  const CLI::App* app = app_.get();
  for (int i = 1; i < argc && argv[i][0] != '-' && !commands_of(*app).empty(); ++i) {
    const std::string word = argv[i];
    const auto named = app->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (named.empty()) throw unknown_word(*app, word);
    app = named.front();
  }
}

int CommandTable::run(int argc, const char* const* argv) {
  const std::vector<const char*> words = with_flags({argv, argv + argc});
  check_commands(static_cast<int>(words.size()), words.data());
  try {
    app_->parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForHelp&) {
    print(app_->help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    print(version.what() + std::string("\n"));
    return 0;
  } catch (const CLI::ParseError& error) {
    // A value is missing or surplus. An unknown flag explains it better, if there is one.
    check_extras();
    throw Error(ErrorKind::usage, 703, explained(error.what()));
  }
  check_extras();
  check_complete();
  check_not_empty();
  return actions_.at(&chosen())();
}

}  // namespace retrace::cli
