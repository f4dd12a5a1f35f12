#include "retrace/cli/batch_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "retrace/base/file.h"
#include "retrace/cli/watched_process.h"

namespace retrace::cli {
namespace {

constexpr uint64_t kScriptLimit = uint64_t{1} << 20;

// Slurm sends SIGTERM to the script alone before the end of the job's time, and to the ranks where it takes their nodes
// back: either way the ranks leave a checkpoint, and end with 143. The script sends it by scancel: srun would kill
// them.
constexpr const char* kScript = R"(#!/bin/sh
#SBATCH --job-name="{name}"
#SBATCH --ntasks={workers}
#SBATCH --output="{log}"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
{options}
# Written by retrace train --submit. A minute before its time is over, and when its nodes are taken back, the training
# leaves a checkpoint, and the job goes into the queue again. When it is started again, it goes on from there.
cd {folder} || exit 66
stopped=
trap 'stopped=yes; scancel --signal=TERM "$SLURM_JOB_ID"' TERM
{command} &
training=$!
wait "$training"
code=$?
while kill -0 "$training" 2>/dev/null; do  # a signal ended the wait
  wait "$training"
  code=$?
done
if [ -n "$stopped" ] || [ $code -eq 143 ]; then
  scontrol requeue "$SLURM_JOB_ID" && exit 0
fi
exit $code
)";

// A word for a shell.
std::string quoted(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

std::string replaced(const std::string& text, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string made;
  for (size_t at = 0; at < text.size();) {
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return text.compare(at, value.first.size(), value.first) == 0;
    });
    if (found == values.end())
      made += text[at++];
    else
      made += found->second, at += found->first.size();
  }
  return made;
}

Error refused(const std::string& what) {
  return Error(ErrorKind::unavailable, 768, "Slurm does not take the training").got(printable(what));
}

// The value of NAME in "JobId=7 JobState=RUNNING ...".
std::string value_in(const std::string& text, const std::string& name) {
  const size_t at = text.find(name + "=");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 1;
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

int number_in(const std::string& text, size_t at) {
  int number = 0;
  std::from_chars(text.data() + std::min(at, text.size()), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string batch_script(const BatchJob& job) {
  std::string text = kScript, options;
  if (!job.profile.submit.empty()) {
    text = read_file(job.profile.submit, "script for sbatch", kScriptLimit);
    if (text.find("{command}") == std::string::npos)
      throw Error(ErrorKind::usage, 767, "a script for sbatch does not say where the training is started")
          .where(printable(job.profile.submit))
          .help("a line with {command} starts it; {name}, {workers}, {log} and {folder} may stand anywhere");
  }
  for (const auto& option : job.profile.options)
    if (option.starts_with('-'))
      options += (options.empty() ? "#SBATCH " : "\n#SBATCH ") + option;
    else
      options += " " + option;
  std::string name = job.name;
  for (char& c : name)
    if (quoted(std::string(1, c)).size() != 1) c = '_';
  return replaced(text, {{"{name}", name},
                         {"{workers}", fmt::format("{}", job.workers)},
                         {"{log}", job.log.string()},
                         {"{folder}", quoted(std::filesystem::current_path().string())},
                         {"{options}\n", options.empty() ? "" : options + "\n"},
                         {"{command}", shell_command(launch_command(job.profile, job.workers, job.program))}});
}

std::string submit(const BatchJob& job) {
  std::error_code ignored;
  std::filesystem::create_directories(job.script.parent_path(), ignored);
  write_file_whole(job.script, batch_script(job));
  const ProcessOutput output = output_of({"sbatch", "--parsable", job.script.string()});
  const std::string number = output.text.substr(0, output.text.find_first_of(";\n"));
  if (output.code == 127) throw refused("there is no sbatch").help("it comes with Slurm (Debian: slurm-client)");
  if (output.code != 0 || number.empty()) throw refused(fmt::format("sbatch ended with exit code {}", output.code));
  return number;
}

int wait_for_job(const std::string& number) {
  constexpr std::chrono::milliseconds first(200), longest(5000);
  for (auto pause = first;; pause = std::min(pause * 2, longest)) {
    const ProcessOutput output = output_of({"scontrol", "show", "job", "--oneliner", number});
    if (output.code != 0) throw refused(fmt::format("the queue knows nothing of job {}", number));
    const std::string state = value_in(output.text, "JobState"), code = value_in(output.text, "ExitCode");
    const bool over = state != "PENDING" && state != "CONFIGURING" && state != "RUNNING" && state != "COMPLETING" &&
                      state != "SUSPENDED" && !state.starts_with("REQUEUE") && state != "RESV_DEL_HOLD";
    if (over) {
      const int own = number_in(code, 0), signal = number_in(code, code.find(':') + 1);
      return own != 0 ? own : signal != 0 ? 128 + signal : state == "COMPLETED" ? 0 : 1;
    }
    std::this_thread::sleep_for(pause);
  }
}

std::string last_output(const BatchJob& job) {
  constexpr size_t lines = 10;
  std::string text;
  try {
    text = read_file(job.log, "output of the job", uint64_t{1} << 28);
  } catch (const Error&) {
    return "";
  }
  size_t begin = text.size();
  for (size_t i = 0; i <= lines && begin != std::string::npos && begin > 0; ++i) begin = text.rfind('\n', begin - 1);
  return begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1);
}

}  // namespace retrace::cli
