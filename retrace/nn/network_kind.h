#pragma once
// Networks by name: retrace/nn/networks/NAME.cpp defines `NetworkKind NAME_network()`.

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/nn/networks.h"

namespace retrace::nn {

struct NetworkKind {
  std::string name;
  std::string_view help;                 // one line
  Shape sample;                          // without the batch axis
  std::vector<NetworkOutput> outputs;    // all that it can have; the first one is always trained
  std::string source;                    // of retrace/data: what a job trains it on that names no data
  int64_t width = 16, least_width = 1;   // NetworkOptions::width where nobody gives it, and the smallest that it may be
  std::vector<OptionRule> options = {};  // of this network alone
  // The layers for options that are resolved. They make one output for each of options.heads, under its name.
  std::function<Layer(const NetworkOptions& options)> layers;
};

// Every network, in the order of the files. Generated.
const std::vector<NetworkKind>& all_networks();

// The network of the options: the built-in one of that name, or that of the layers. Nothing if no network has the name.
std::optional<NetworkKind> find_network(const NetworkOptions& options);

// The options with the network's defaults where they say nothing; checks nothing.
NetworkOptions with_defaults(NetworkOptions options, const NetworkKind& kind);
// Whether the network makes this output.
bool has_head(const NetworkOptions& options, std::string_view name);

}  // namespace retrace::nn
