#pragma once
// Variables of the environment for one test.

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace retrace {

// Sets variables of the environment, or unsets those of an empty text, and puts back what was there.
class Environment {
 public:
  void set(const std::string& name, const std::string& value) {
    const char* const text = std::getenv(name.c_str());
    before_.try_emplace(name, text ? std::optional<std::string>(text) : std::nullopt);
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, text] : before_) text ? setenv(name.c_str(), text->c_str(), 1) : unsetenv(name.c_str());
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace retrace
