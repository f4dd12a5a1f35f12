#pragma once
// Layers and outputs of a network, and groups of its parameters, from TOML; used by job_toml.cpp.

#include <toml++/toml.h>

#include "retrace/train/job_entries.h"

namespace retrace {

// network.layers and network.outputs: their form. Types of layers and their options are judged by nn::checked_layers().
// `file` is the name in messages.
LayersValue read_layers(const toml::array& list, const std::string& file);
OutputsValue read_outputs(const toml::array& list, const std::string& file);
// training.groups: their form. Options are judged by find_solver_mistakes(), patterns by check_groups().
GroupsValue read_groups(const toml::array& list, const std::string& file);

}  // namespace retrace
