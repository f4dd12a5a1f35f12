#pragma once
// A checkpoint: the state of a run after a step, in a safetensors file of its own.

#include <filesystem>
#include <string>

#include "retrace/base/file.h"
#include "retrace/train/run_state.h"
#include "retrace/train/safetensors.h"

namespace retrace {

// The file of a state, and what it belongs to (checkpoint_owner() in training_task.h): its tree (to_tree() in
// run_state.h), on the CPU and computed, with the fingerprint of each tensor and "job KEY" for each value of the owner
// in the metadata. Equal states of equal jobs give equal content.
SafeTensors checkpoint_content(const Tree& state, const NamedValues& owner);

// Writes it whole or not at all, with a checksum of all its bytes in the metadata. Equal content gives equal bytes.
// Errors: output.
void write_checkpoint(const std::filesystem::path& path, const SafeTensors& content,
                      Lasting lasting = Lasting::machine);

// The bytes of such a file. Errors: missing; bad_data where a byte is not what was written, or absent.
std::string read_checkpoint(const std::filesystem::path& path);
// The state in those bytes, on the CPU; trees get the structure, shapes and labels of those in `like`, the state before
// the first step of the job. `path` is for messages. Error(bad_data) that names what differs: a key of the job, the
// data, a tensor of another network or solver.
RunState checkpoint_state(const std::string& bytes, const RunState& like, const NamedValues& owner,
                          const std::filesystem::path& path);

}  // namespace retrace
