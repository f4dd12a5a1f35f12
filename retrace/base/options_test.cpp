#include "retrace/base/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "retrace/base/error.h"

namespace retrace {
namespace {

// Sets a variable for one test.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* text = std::getenv(name)) before_ = text, had_ = true;
    setenv(name, value, 1);
  }
  ~Setting() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

TEST(Options, TableIsInTheOrderOfTheEnumerationAndComplete) {
  const auto table = environment_table();
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(table[i].variable), i);
    EXPECT_TRUE(table[i].name.starts_with("RETRACE_"));
    EXPECT_FALSE(table[i].purpose.empty());
  }
  EXPECT_EQ(static_cast<size_t>(EnvironmentVariable::supervised) + 1, table.size());
}

TEST(Options, ListIsCutAtCommas) {
  const Setting setting("RETRACE_PASSES_OFF", " fuse, dead_code ,,x");
  EXPECT_EQ(environment_list(EnvironmentVariable::passes_off), (std::vector<std::string>{"fuse", "dead_code", "x"}));
}

TEST(Options, EmptyListHasNoParts) {
  const Setting setting("RETRACE_PASSES_OFF", "");
  EXPECT_TRUE(environment_list(EnvironmentVariable::passes_off).empty());
}

TEST(Options, SwitchKnowsOnAndOffOnly) {
  for (const char* text : {"off", "0", "false", "no"}) {
    const Setting setting("RETRACE_PLAN_CACHE", text);
    EXPECT_FALSE(environment_switch(EnvironmentVariable::plan_cache, true)) << text;
  }
  const Setting setting("RETRACE_PLAN_CACHE", "maybe");
  try {
    environment_switch(EnvironmentVariable::plan_cache, true);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(),
                 "error[RT0401]: RETRACE_PLAN_CACHE: the value is not allowed\n"
                 "  where:    environment\n"
                 "  got:      \"maybe\"\n"
                 "  expected: on, off\n"
                 "  help:     unset RETRACE_PLAN_CACHE to get the default: on");
  }
}

TEST(Options, NumberIsWholeAndInRange) {
  {
    const Setting setting("RETRACE_THREADS", "12");
    EXPECT_EQ(environment_number(EnvironmentVariable::threads, 1, 256, 7), 12);
  }
  for (const char* text : {"0", "257", "3x", "1.5", "-1", "99999999999999"}) {
    const Setting setting("RETRACE_THREADS", text);
    EXPECT_THROW(environment_number(EnvironmentVariable::threads, 1, 256, 7), Error) << text;
  }
  const Setting setting("RETRACE_THREADS", "");
  EXPECT_EQ(environment_number(EnvironmentVariable::threads, 1, 256, 7), 7);
}

TEST(Options, CacheFolderIsTheUsersOwn) {
  const Setting home("HOME", "/home/somebody");
  {
    const Setting unset("XDG_CACHE_HOME", ""), toolkit("CUDA_HOME", "/opt/cuda");
    EXPECT_EQ(cache_folder(), "/home/somebody/.cache");
    EXPECT_EQ(cuda_home(), "/opt/cuda");
  }
  const Setting relative("XDG_CACHE_HOME", "somewhere");
  EXPECT_EQ(cache_folder(), "/home/somebody/.cache");
  const Setting absolute("XDG_CACHE_HOME", "/var/somewhere");
  EXPECT_EQ(cache_folder(), "/var/somewhere");
}

TEST(Options, DumbTerminalsAreKnown) {
  const Setting dumb("TERM", "dumb");
  EXPECT_TRUE(terminal_is_dumb());
  const Setting xterm("TERM", "xterm-256color");
  EXPECT_FALSE(terminal_is_dumb());
}

TEST(Options, MisspeltNamesAreFound) {
  const Setting wrong("RETRACE_THREDS", "2"), right("RETRACE_SIMD", "scalar");
  const auto unknown = unknown_environment_variables();
  EXPECT_NE(std::find(unknown.begin(), unknown.end(), "RETRACE_THREDS"), unknown.end());
  EXPECT_EQ(std::find(unknown.begin(), unknown.end(), "RETRACE_SIMD"), unknown.end());
}

}  // namespace
}  // namespace retrace
