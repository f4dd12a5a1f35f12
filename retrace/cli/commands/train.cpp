#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "retrace/base/file.h"
#include "retrace/base/options.h"
#include "retrace/cli/arguments.h"
#include "retrace/cli/batch_job.h"
#include "retrace/cli/metric_text.h"
#include "retrace/cli/output.h"
#include "retrace/cli/rank_reports.h"
#include "retrace/cli/run_result.h"
#include "retrace/cli/settings.h"
#include "retrace/cli/stop_signals.h"
#include "retrace/cli/supervisor.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/mpi_group.h"
#include "retrace/distributed/profile.h"
#include "retrace/monitor/event_file.h"
#include "retrace/monitor/json_metrics.h"
#include "retrace/monitor/sink_kind.h"
#include "retrace/report/report.h"
#include "retrace/train/automatic_workers.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/mode_names.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_storage.h"
#include "retrace/train/stop_reason.h"
#include "retrace/train/stop_request.h"
#include "retrace/train/train_job.h"
#include "retrace/web/run_server.h"

namespace retrace::cli {
namespace {

// Of this program alone; the peak that getrusage() knows includes whatever the process was before exec.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    const size_t digits = std::min(line.find_first_of("0123456789"), line.size());
    int64_t kibibytes = 0;
    std::from_chars(line.data() + digits, line.data() + line.size(), kibibytes);
    return static_cast<double>(kibibytes) / 1024;
  }
  return 0;
}

Json json_of_train(const TrainJobResult& result) {
  return Json::object({{"job", result.job},
                       {"device", result.device},
                       {"workers", result.workers},
                       {"threads", result.threads},
                       {"epochs", result.epochs},
                       {"iterations", result.iterations},
                       {"output_iteration", result.output_iteration},
                       {"seconds", result.seconds},
                       {"validation_loss", result.loss},
                       {"metrics", json_metrics(result.metrics, result.tables)},
                       {"fingerprint", result.fingerprint},
                       {"mode", result.mode},
                       {"peak_mib", peak_mib()},
                       {"run_dir", result.run_dir.string()},
                       {"stop_reason", result.stop_reason}});
}

std::string result_text_train(const TrainJobResult& result) {
  std::string text = fmt::format("{} epoch{}, {} iterations, {:.1f} seconds, {}\ntest set: ", result.epochs,
                                 result.epochs == 1 ? "" : "s", result.iterations, result.seconds, result.stop_reason);
  const bool measured = !result.metrics.empty() || !result.tables.empty();
  text += measured ? metrics_text(result.loss, result.metrics) : "not measured";
  text += fmt::format("\nfingerprint {}{}\n", result.fingerprint,
                      is_fast_mode(result.mode) ? ", of this run alone: it is of the " + mode_mark(result.mode) : "");
  for (const auto& [name, table] : result.tables) text += table_text(name, table);
  return result.run_dir.empty() ? text : text + fmt::format("run {}\n", printable(result.run_dir.string()));
}

struct TrainOptions {
  std::filesystem::path job, out, resume, tensorboard;
  JobSettings settings;
  std::string profile, restarts, monitor = "terminal";
  bool go_on = false, submit = false, wait = false, no_report = false, json = false, quiet = false;
};

// Of a cluster profile: nobody said a number.
bool wants_all_workers(const Job& job, const TrainOptions& flags) {
  return job.workers == 1 && flags.settings.workers.empty();
}

// The ranks of mpirun or srun, or threads of this process.
Pool make_pool(const Job& job, const TrainOptions& flags) {
  const PoolOptions options{.timeout = job.training.timeout, .fewer = true};
  if (!flags.profile.empty())
    return Pool::from_profile(flags.profile, wants_all_workers(job, flags) ? 0 : job.workers, options, {});
  check_launcher();
  const Launcher launcher = detect_launcher();
  if (launcher.size == 1 && job.workers > 0) return Pool::local(job.workers, options, {});
  if (launcher.size == 1)
    return Pool::local(automatic_workers(job.device, job.training.shards, job.threads).workers, options, {});
  if (job.workers > 1)
    throw Error(ErrorKind::usage, 705, fmt::format("workers = {} under {}", job.workers, launcher.name))
        .help(fmt::format("the {} ranks are the workers: leave workers out, or say auto", launcher.size));
  if (const std::string hint = launcher_hint(); launcher.rank == 0 && !hint.empty() && !flags.quiet) complain(hint);
  return Pool::from_environment(options, {});
}

// Why the training ended before its last epoch.
std::string diverged_text(const TrainJobResult& result) {
  const std::string kept = result.run_dir.empty()
                               ? "no epoch was complete: there are no weights, and no run folder"
                               : fmt::format("the weights of epoch {}, the last complete one", result.epochs);
  return fmt::format(
      "training ended: the loss is not finite after iteration {} (epoch {})\n"
      "  cause:    {}\n"
      "  kept:     {}\n"
      "  help:     {}",
      result.iterations, result.epochs + 1, result.cause.found, kept, result.cause.help);
}

// A training that was stopped through its live page, or by another process (retrace monitor): it ends with exit code 0.
constexpr const char* kStoppedByUser = "stopped by user";

// Whether a request has ended the training, and no signal; every process has its answer.
bool stopped_by_request(Pool& pool, const StopRequests& requests) {
  const bool signal = StopSignals::received() != 0, request = requests.received();
  return pool.spmd([&](Worker& worker) { return worker.any(request) && !worker.any(signal); })[0];
}

// The live page of the run. Without it the run is as good.
void serve(std::optional<RunServer>& page, const std::string& run) {
  constexpr int kUsual = 6006;
  for (const int port : {kUsual, 0}) {
    try {
      page.emplace(RunServerOptions{.runs = {run}, .port = port, .shows_end = true});
      return complain("live page: " + page->url());
    } catch (const Error& error) {
      if (port == 0 || error.kind() != ErrorKind::usage) return complain(std::string("no live page: ") + error.what());
    }
  }
}

// Of a training that a signal ended; on another rank than the one that got it, of SIGTERM.
int stopped_by() { return StopSignals::received() ? StopSignals::received() : SIGTERM; }

int exit_code_of_train(const TrainJobResult& result) {
  if (result.stop_reason == kStopped) return 128 + stopped_by();
  return result.stop_reason == "the loss is not finite" ? kDiverged : 0;
}

std::string stopped_text_train(const TrainJobResult& result) {
  const std::string run = printable(result.run_dir.string());
  const char* const by = result.stop_reason == kStoppedByUser ? "its user" : StopSignals::name(stopped_by());
  if (result.checkpoint == result.iterations)
    return fmt::format("stopped by {}; go on with: retrace train --resume {}", by, run);
  return fmt::format("stopped by {}; the weights of the last iteration are kept, but no checkpoint of it: {}", by,
                     result.checkpoint == 0
                         ? "there is nothing to resume from"
                         : fmt::format("retrace train --resume {} goes on after iteration {}", run, result.checkpoint));
}

std::string ending_text_train(const TrainJobResult& result) {
  if (result.stop_reason == kStopped || result.stop_reason == kStoppedByUser) return stopped_text_train(result);
  return diverged_text(result);
}

// The page of the run, from what the training has told. Without it the run is as good.
void write_page(const std::filesystem::path& run) {
  try {
    write_report(run, {}, {.measure = false});
  } catch (const Error& error) {
    complain(std::string("the report of the run cannot be written: ") + error.what());
  }
}

// A key that decides bits and differs from that of the run that goes on.
void check_same_job(const Job& run, const Job& job, const char* help) {
  const auto old_values = job_identity(run), new_values = job_identity(job);
  if (old_values == new_values) return;
  const auto [old_value, new_value] =
      std::mismatch(old_values.begin(), old_values.end(), new_values.begin(), new_values.end());
  const auto& [key, value] = new_value == new_values.end() ? *old_value : *new_value;
  throw Error(ErrorKind::usage, 712, fmt::format("a run that goes on keeps {}", key)).got(value).help(help);
}

// The job of the run that goes on, with keys replaced that change no bit.
Job job_to_resume(const TrainOptions& options) {
  const Job before = read_run_job(options.resume);
  auto overrides = overrides_of(options.settings);
  // Workers of one process may have begun what ranks go on with.
  if (detect_launcher().size > 1)
    overrides.insert(overrides.begin(), {"workers", before.workers == 0 ? "0" : "1", "--resume"});
  const Job job = read_job(options.resume / "job.toml", overrides);
  check_same_job(before, job, "without --resume it is a new run, with another result");
  return job;
}

// Whether a run is not at its end.
bool can_go_on(const std::filesystem::path& run, bool quiet) {
  try {
    check_resumable(run);
  } catch (const Error& error) {
    if (error.code() != 563) throw;
    if (!quiet) complain(error.message());
    return false;
  }
  return true;
}

// --continue: the run in --out goes on, if it has begun; what was broken off before there was anything to go on from is
// removed. Whether there is anything to do.
bool go_on_with_run(TrainOptions& options) {
  const std::filesystem::path run = options.out;
  if (run.empty() || is_s3(run.string()))
    throw Error(ErrorKind::usage, 715, "a training that goes on with its run has a folder of a known name")
        .where("--continue")
        .help("add --out DIR, a folder on the disk");
  const auto check_job = [&] {
    check_same_job(read_run_job(run), read_job(options.job, overrides_of(options.settings)),
                   "give another folder to a new run");
  };
  if (states_of(run).empty() && !has_finished(run)) {
    std::error_code ignored;
    if (detect_launcher().rank == 0 && std::filesystem::exists(run / "job.toml", ignored)) check_job(), clear_run(run);
    return true;
  }
  check_job();
  options.resume = std::exchange(options.out, {});
  return can_go_on(options.resume, options.quiet);
}

// Of the job, as far as it can be read: the training itself says what is wrong with it.
double timeout_of(const TrainOptions& options) {
  try {
    const auto job = options.resume.empty() ? options.job : options.resume / "job.toml";
    return read_job(job, overrides_of(options.settings)).training.timeout;
  } catch (const Error&) {
    return Job().training.timeout;
  }
}

void tell_result(const TrainOptions& options, const TrainJobResult& result) {
  finish_standard_error();
  if (options.json)
    print(json_of_train(result).text() + "\n");
  else if (!options.quiet)
    print(result_text_train(result));
}

// The training in processes that may be lost.
int train_supervised(const TrainOptions& options) {
  constexpr int kMostRestarts = 1000000;
  const std::string run = (options.resume.empty() ? options.out : options.resume).string();
  const auto wrong = [](const char* text) { return Error(ErrorKind::usage, 713, text).where("--restarts"); };
  int restarts = 0;
  const auto [end, failure] =
      std::from_chars(options.restarts.data(), options.restarts.data() + options.restarts.size(), restarts);
  if (failure != std::errc() || *end || restarts < 0 || restarts > kMostRestarts)
    throw wrong("restarts must be a number from 0 to 1000000").got(options.restarts);
  if (run.empty()) throw wrong("a training that starts again has a folder of a known name").help("add --out DIR");
  if (detect_launcher().present)
    throw wrong("a rank cannot start its training again").help("let a cluster profile start the ranks: --profile NAME");
  const auto code = supervise({.restarts = restarts,
                               .job = options.job,
                               .run = run,
                               .profile = options.profile,
                               .timeout = timeout_of(options),
                               .quiet = options.quiet});
  if (code) return *code;
  if (!options.no_report) write_page(run);
  const auto result = result_of_run(run);
  tell_result(options, result);
  return exit_code_of_train(result);
}

// What each rank of a job in the queue runs, started again as well.
std::vector<std::string> queued_command(const TrainOptions& options) {
  std::vector<std::string> command = own_command();
  for (const char* name : {"--profile", "--restarts"}) drop_option(command, name);
  if (options.settings.workers != "auto") drop_option(command, "--workers");
  for (const char* name : {"--submit", "--wait", "--continue"}) drop_flag(command, name);
  command.emplace_back("--continue");
  return command;
}

// The training as a job in the queue of Slurm. What is wrong with it is said now, and not hours later.
int train_in_queue(const TrainOptions& options) {
  const auto wrong = [](const char* text) { return Error(ErrorKind::usage, 766, text).where("--submit"); };
  if (options.out.empty() || is_s3(options.out.string()))
    throw wrong("a training in the queue has a folder of a known name").help("add --out DIR, a folder on the disk");
  if (!options.restarts.empty())
    throw wrong("a training in the queue is started again by the queue").help("leave --restarts out");
  const ClusterProfile profile = cluster_profile(options.profile);
  if (profile.engine != "slurm")
    throw wrong("the queue is that of a cluster profile with the engine \"slurm\"")
        .got(fmt::format("cluster profile \"{}\" with the engine \"{}\"", printable(profile.name), profile.engine))
        .help("--profile NAME");
  const Job job = read_job(options.job, overrides_of(options.settings));
  const int workers = workers_of(profile, wants_all_workers(job, options) ? 0 : job.workers);
  if (job.workers != 0) check_workers(workers, job.training.shards, "training.shards");
  if (TrainOptions copy = options; !go_on_with_run(copy)) return 0;
  const std::string out = std::filesystem::absolute(options.out).lexically_normal().string();
  const BatchJob queued{.name = job.name,
                        .profile = profile,
                        .workers = workers,
                        .program = queued_command(options),
                        .script = out + ".sbatch",
                        .log = out + ".log"};
  const std::string number = submit(queued);
  if (!options.quiet && !options.json)
    print(fmt::format("job {} in the queue: {} on {} worker{}\nscript {}\noutput {}\n", number, printable(job.name),
                      workers, workers == 1 ? "" : "s", printable(queued.script.string()),
                      printable(queued.log.string())));
  const int code = options.wait ? wait_for_job(number) : 0;
  const std::string last = options.wait ? last_output(queued) : "";
  if (options.json)
    print(Json::object({{"job_id", number},
                        {"workers", workers},
                        {"script", queued.script.string()},
                        {"log", queued.log.string()},
                        {"waited", options.wait},
                        {"exit_code", code},
                        {"output", last}})
              .text() +
          "\n");
  else if (code != 0)
    complain(last);
  else if (!options.quiet)
    print(last);
  return code;
}

int train_here(TrainOptions options) {
  const std::string stored = (options.resume.empty() ? options.out : options.resume).string();
  options.resume = run_on_disk(options.resume);
  const Job job =
      options.resume.empty() ? read_job(options.job, overrides_of(options.settings)) : job_to_resume(options);
  Pool pool = make_pool(job, options);
  report_here();
  std::optional<RunUpload> upload;
  if (is_s3(stored)) {
    if (options.resume.empty()) options.out = folder_for_new_run(stored, pool.is_first());
    if (pool.is_first()) upload.emplace(options.resume.empty() ? options.out : options.resume, stored);
  }
  TerminalOptions view = terminal_options(stderr, terminal_is_dumb());
  view.says_causes = false;  // the last message does
  const auto write = [](std::string text, bool passing) { standard_error().write(std::move(text), passing); };
  std::optional<RunServer> page;
  const auto serve_page = [&page](const std::string& run) { serve(page, run); };
  const auto monitor = kind_of(all_sinks(), options.monitor, "monitor", {}).make({write, view, serve_page});
  Monitors views;
  if (!options.quiet) views.add(*monitor);
  std::optional<EventFile> events;
  if (pool.is_first() && !options.tensorboard.empty()) views.add(events.emplace(options.tensorboard));
  StopRequests requests;
  if (pool.is_first()) views.add(requests);
  const StopSignals signals(pool.is_first(), view.rewrite);
  auto result =
      train_job(job, {.pool = &pool, .out = options.out, .resume = options.resume, .monitor = &views, .stop = [&] {
                        return StopSignals::received() != 0 || requests.received();
                      }});
  if (result.stop_reason == kStopped && stopped_by_request(pool, requests)) result.stop_reason = kStoppedByUser;
  const int code = exit_code_of_train(result);
  events.reset();
  if (pool.is_first()) {
    if (!options.no_report && !result.run_dir.empty()) write_page(result.run_dir);
    if (upload) upload->finish(), result.run_dir = stored;
  }
  meet_at_end();  // one that is lost here is missed before the result is told
  if (pool.is_first()) {
    tell_result(options, result);
    if (code == 0) report_result();
    if (code != 0 || result.stop_reason == kStoppedByUser) complain(ending_text_train(result));
    finish_standard_error();
  }
  // The first rank that ends with an error makes mpirun end the others.
  if (code != 0) pool.spmd([](Worker& worker) { worker.barrier(); });
  return code;
}

int train(TrainOptions options) {
  if (options.submit) return train_in_queue(options);
  if (options.wait) throw Error(ErrorKind::usage, 766, "--wait waits for a training in the queue").help("add --submit");
  if (options.go_on && !go_on_with_run(options)) return 0;
  if (!options.restarts.empty()) return train_supervised(options);
  try {
    return train_here(std::move(options));
  } catch (const Error& error) {
    report_loss(error);
    throw;
  }
}

// "json (each event ...), terminal (...)"
std::string monitors() {
  std::string text;
  for (const auto& sink : all_sinks()) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", sink.name, sink.help);
  return text;
}

void describe_train(Flags& flags) {
  const auto options = std::make_shared<TrainOptions>();
  flags.option("--resume", "RUN", options->resume,
               "goes on with the run of this folder from its newest checkpoint, to the same bits");
  flags.argument("JOB", options->job, "job file (TOML)", "the job file", "--resume");
  add_settings(flags, options->settings);
  flags.option("--data", "DIR", options->settings.data, "short for --set data.path=DIR");
  flags.option("--epochs", "N", options->settings.epochs, "short for --set training.max_epochs=N");
  flags.option("--batch-size", "N", options->settings.batch_size, "short for --set training.mini_batch_size=N");
  flags.option("--learn-rate", "RATE", options->settings.learn_rate,
               "short for --set training.initial_learn_rate=RATE");
  flags.option("--workers", "N", options->settings.workers,
               "workers that share each mini-batch, or auto (docs/workers.md); changes no bit");
  flags.option("--profile", "NAME", options->profile,
               "cluster profile whose launcher starts the workers; --workers: how many of them");
  flags.option("--restarts", "N", options->restarts,
               "starts again up to N times when a worker is lost, from the newest checkpoint; needs --out or --resume");
  flags.flag("--submit", options->submit,
             "hands the training to the queue of a Slurm profile, and ends; needs --out; docs/workers.md");
  flags.flag("--wait", options->wait, "with --submit: waits for its end, and ends with its exit code and last output");
  flags.exclude("--resume", "--submit");
  flags.option("--timeout", "SECONDS", options->settings.timeout,
               "seconds to wait for a worker without a sign of life");
  flags.option("--monitor", "NAME", options->monitor, "how progress is told on standard error: " + monitors());
  flags.option("--tensorboard", "DIR", options->tensorboard, "writes event files of TensorBoard into this folder, too");
  flags.option("--out", "DIR", options->out,
               "run folder, or s3://BUCKET/RUN; without it runs/JOB-N with the next free N");
  flags.exclude("--resume", "--out");
  flags.flag("--continue", options->go_on, "goes on with the run in --out if it has begun, and begins it if not");
  flags.exclude("--resume", "--continue");
  flags.flag("--no-report", options->no_report, "write no report.html into the run folder at the end");
  flags.flag("--json", options->json, "print the result as one JSON object, the last line");
  flags.flag("--quiet", options->quiet, "print nothing but errors and warnings, and the object of --json");
  flags.footer(
      "Weights are written after every epoch. Ctrl-C, SIGTERM, SIGHUP and SIGUSR1 end after the iteration and leave "
      "a\n"
      "checkpoint, as does a training every 60 seconds (training.checkpoint_seconds, _epochs, _iterations);\n"
      "a second Ctrl-C ends at once. Exit codes: 0 finished, 2 usage or job, 3 the loss is not finite, 65 bad data,\n"
      "66 input missing, 69 device or memory absent, 74 output failed, 77 a rank was lost, 128+N signal N.");
  flags.action([options] { return train(*options); });
}

}  // namespace

CommandKind train_command() {
  return {.name = "train", .help = "train the network of a job file", .describe = describe_train};
}

}  // namespace retrace::cli
