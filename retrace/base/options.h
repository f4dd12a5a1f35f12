#pragma once
// Every environment variable that the library reads, in one table. Nothing else reads the environment.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

enum class EnvironmentVariable {
  simd,
  threads,
  passes_off,
  plan_cache,
  memory_limit,
  nvrtc,
  kernel_cache,
  cuda_emulation,
  cuda_emulation_order,
  cuda_driver,
  mpi_module,
  exchange,
  nccl,
  object_cache,
  object_cache_size,
  profiles,
  without_hosts,
  launched,
  supervised
};

struct EnvironmentRow {
  EnvironmentVariable variable;
  std::string_view name;      // as typed in a shell
  std::string_view values;    // what may stand there
  std::string_view fallback;  // what holds when it is unset or empty
  std::string_view purpose;
};

// All variables, in the order of the enumeration.
std::span<const EnvironmentRow> environment_table();

// As typed in a shell.
std::string_view name_of(EnvironmentVariable variable);

// The text of a variable at this moment; "" when unset. Callers that need it often keep it.
std::string environment(EnvironmentVariable variable);
// The text cut at commas, without empty parts and without blanks around them.
std::vector<std::string> environment_list(EnvironmentVariable variable);
// on/off (also 1/0, true/false, yes/no); `fallback` when unset. Throws Error(usage) for any other text.
bool environment_switch(EnvironmentVariable variable, bool fallback);
// A whole number in low..high; `fallback` when unset. Throws Error(usage) for any other text.
int environment_number(EnvironmentVariable variable, int low, int high, int fallback);

// The folder of caches: $XDG_CACHE_HOME, else ~/.cache; "" if neither is known.
std::string cache_folder();
// $CUDA_HOME: where a CUDA toolkit is installed; "" when unset.
std::string cuda_home();

// The text of a variable that belongs to another program, such as the launcher of this one; "" when unset.
std::string foreign_environment(const char* name);
// TERM=dumb: the terminal cannot rewrite a line.
bool terminal_is_dumb();

// Names in the environment that begin with RETRACE_ and are not in the table, sorted: likely typing mistakes.
std::vector<std::string> unknown_environment_variables();

}  // namespace retrace
