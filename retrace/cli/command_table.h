#pragma once
// All subcommands with their flags, and the parsing of a command line.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "retrace/cli/command.h"

namespace CLI {
class Option;
}

namespace retrace::cli {

class CommandTable {
 public:
  CommandTable();
  ~CommandTable();
  // Parses the arguments and does what they say; returns the exit code. Error(usage) for whatever is wrong with them.
  int run(int argc, const char* const* argv);

 private:
  friend class Flags;
  // An option that may not be left out. CLI11's own check would come before the one for unknown flags, which explains
  // more: a misspelt --input is both.
  struct Required {
    const CLI::App* command;
    const CLI::Option* option;
    std::string what;
    const CLI::Option* other;  // that may be given in its place; null: none
  };

  Flags add(CLI::App& parent, const std::string& name, std::string_view help);
  const CLI::App& chosen() const;
  void check_commands(int argc, const char* const* argv) const;
  void check_extras() const;
  void check_complete() const;
  void check_not_empty() const;

  std::unique_ptr<CLI::App> app_;
  std::vector<Required> required_;
  std::map<const CLI::App*, std::function<int()>> actions_;
};

}  // namespace retrace::cli
