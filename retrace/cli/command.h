#pragma once
// Subcommands by name: retrace/cli/commands/NAME.cpp defines `CommandKind NAME_command()`, which says what flags it has
// and what it does. Errors are thrown.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "retrace/base/kinds.h"

namespace CLI {
class App;
}

namespace retrace::cli {

constexpr int kDiverged = 3;    // exit code of a training that ended because the loss was not finite
constexpr int kDifferent = 76;  // exit code of a comparison that found a difference

class CommandTable;

// What a subcommand takes. Values are texts, so that the parts of the library that they belong to judge them; one that
// is not given leaves its variable as it is. The variables live as long as the action does: share them with it.
class Flags {
 public:
  // A word without a flag, which must be given; `what` is what it is, for messages: "the job file".
  void argument(const char* name, std::filesystem::path& value, const char* help, const char* what);
  // A word without a flag, which may be left out.
  void optional(const char* name, std::filesystem::path& value, const char* help);
  // Words without a flag, any number of them.
  void words(const char* name, std::vector<std::filesystem::path>& values, const char* help);
  // A word that must be given, in place of which a flag may be given, but not both.
  void argument(const char* name, std::filesystem::path& value, const char* help, const char* what, const char* flag);
  // --NAME TYPE
  void option(const char* name, const char* type, std::string& value, const std::string& help);
  void option(const char* name, const char* type, std::filesystem::path& value, const char* help);
  // The same, which must be given.
  void required(const char* name, const char* type, std::filesystem::path& value, const char* help, const char* what);
  // The same, which may be repeated.
  void repeated(const char* name, const char* type, std::vector<std::string>& values, const char* help);
  // --NAME without a value.
  void flag(const char* name, bool& value, const char* help);
  // Only one of the two may be given.
  void exclude(const char* name, const char* other);
  // Text below the flags in --help.
  void footer(const char* text);
  // A subcommand of this one.
  Flags subcommand(const std::string& name, std::string_view help);
  // What is done; returns the exit code.
  void action(std::function<int()> run);

 private:
  friend class CommandTable;
  Flags(CommandTable& table, CLI::App& app) : table_(&table), app_(&app) {}
  CommandTable* table_;
  CLI::App* app_;
};

struct CommandKind {
  std::string name;
  std::string_view help;  // one line
  std::function<void(Flags& flags)> describe;
};

// Every subcommand, in the order of the files. Generated.
const std::vector<CommandKind>& all_commands();

}  // namespace retrace::cli
