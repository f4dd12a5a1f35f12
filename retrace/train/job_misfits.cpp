#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/joined.h"
#include "retrace/nn/network_kind.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/train/job_check.h"
#include "retrace/train/job_data.h"
#include "retrace/train/layer_mistakes.h"
#include "retrace/train/metric_kind.h"
#include "retrace/train/solver_mistakes.h"

namespace retrace {
namespace {

// A schedule has a length, if another one follows it.
void find_schedule_mistake(const Job& job, const GivenKeys& given, std::vector<Error>& errors) {
  try {
    schedule_lengths(job.training.schedule, job.training.options);
  } catch (const Error& error) {
    errors.push_back(error);
    for (const char* key : {"training.schedule_iterations", "training.schedule"})
      if (const auto found = given.find(key); found != given.end() && !found->second.place.empty()) {
        errors.back().where(found->second.place);
        break;
      }
  }
}

// Looks at a job whose network and source are known by name.
class Misfits {
 public:
  Misfits(const Job& job, const GivenKeys& given)
      : job_(job),
        given_(given),
        network_(*nn::find_network(job.network)),
        source_(*find_kind(all_sources(), *job.data.source)) {}

  std::vector<Error> find() {
    check_transforms();
    if (!errors_.empty()) return std::move(errors_);  // the samples are not known
    if (job_.network.layers.empty()) {
      check_data();
      check_heads();
    } else {
      for (auto& error : find_layer_mistakes(job_, given_, source_)) errors_.push_back(std::move(error));
    }
    if (job_.data.test_share > 0 && job_.data.options.find("test_part"))
      add(479, "data.test_share", fmt::format("data source \"{}\" puts a part aside by itself", source_.name))
          .help("give data.test_part in its place: samples overlap, and neighbours would be in both sets");
    if (source_.reads_folder && job_.data.path.empty())
      add(417, "data.path", "data.path is missing")
          .expected(fmt::format("the folder of {}", source_.files))
          .help("add --set data.path=DIR");
    if (job_.training.shards > job_.training.mini_batch_size)
      add(417, "training.shards", "training.shards is larger than a mini-batch")
          .expected(fmt::format("at most training.mini_batch_size = {}", job_.training.mini_batch_size))
          .help("a shard without samples computes nothing: set fewer shards, or a larger mini-batch");
    if (job_.training.output_network == "best-validation" && job_.validation_data == "none")
      add(484, "training.output_network", "training.output_network has no validations to choose by")
          .help("give validation data, or training.output_network = \"last-iteration\"");
    if (job_.network.width.value_or(network_.width) < network_.least_width)
      add(417, "network.width", fmt::format("network.width is too small for network \"{}\"", network_.name))
          .expected(fmt::format("at least {}", network_.least_width));
    find_schedule_mistake(job_, given_, errors_);
    for (auto& error : find_solver_mistakes(job_.training, given_)) errors_.push_back(std::move(error));
    check_metrics();
    check_count("data.train_samples", Split::train, job_.data.train_samples);
    check_count("data.test_samples", Split::test, job_.data.test_samples);
    return std::move(errors_);
  }

 private:
  Error& add(int code, const std::string& key, const std::string& what) {
    return errors_.emplace_back(job_mistake(given_, code, key, what));
  }

  // Sources on which the network can be trained, with its first output at least.
  std::vector<std::string> fitting_sources() const {
    std::vector<std::string> names;
    for (const auto& source : all_sources())
      if (reads(source) && has_target(source, network_.outputs[0])) names.push_back(source.name);
    return names;
  }

  bool has_target(const SourceKind& source, const nn::NetworkOutput& output) const {
    return target_of(targets_of(source, with_standard_values(job_.data.options, source.options)), output).has_value();
  }

  // Whether the network reads its samples, as far as the job says it: files are looked at later.
  bool reads(const SourceKind& source) const {
    const Shape sample = likely_sample(job_, source);
    bool same = sample.rank() == network_.sample.rank();
    for (int i = 0; same && i < sample.rank(); ++i) same = sample[i] == 0 || sample[i] == network_.sample[i];
    return same;
  }

  void check_data() {
    const auto names = fitting_sources();
    if (!std::count(names.begin(), names.end(), source_.name)) {
      add(417, "data.source",
          fmt::format("network \"{}\" cannot train on data source \"{}\"", network_.name, source_.name))
          .got("")
          .expected(joined(names, ", "));
      return;
    }
    std::vector<std::string> trained;
    for (const auto& output : network_.outputs)
      if (has_target(source_, output)) trained.push_back(fmt::format("\"{}\"", output.name));
    for (const auto& output : network_.outputs)
      if (nn::has_head(job_.network, output.name) && !has_target(source_, output))
        add(417, "network.heads",
            fmt::format("data source \"{}\" has no targets for the output \"{}\"", source_.name, output.name))
            .help(fmt::format("set network.heads = [{}]", joined(trained, ", ")));
  }

  // What they make of images, as far as the job says it.
  void check_transforms() {
    try {
      const Shape before = source_sample(job_, source_), train = sample_of(job_, source_, Split::train);
      const Shape test = sample_of(job_, source_, Split::test);
      if (train != test)
        add(385, "data.transforms", "data.transforms bring training and test images to different sizes")
            .got(fmt::format("{} and {} (0: as the images are)", train.text(), test.text()))
            .expected("one size; random transforms are done in training only")
            .help("put \"center-crop\" behind them: it leaves what has its size as it is");
      if (before.rank() == 3 && before[2] == 0 && train[2] != 0)
        add(386, "data.image_channels", "data.image_channels must be given, since a transform changes the channels")
            .got("")
            .expected("1 (grey) or 3 (red, green, blue): what images are before it")
            .help("set data.image_channels");
    } catch (const Error& error) {
      errors_.push_back(error);
      if (const auto given = given_.find("data.transforms"); given != given_.end() && !given->second.place.empty())
        errors_.back().where(given->second.place);
    }
  }

  void check_heads() {
    const std::string& first = network_.outputs[0].name;
    if (nn::has_head(job_.network, first)) return;
    add(417, "network.heads", fmt::format("network \"{}\" always trains the output \"{}\"", network_.name, first))
        .help(fmt::format("add \"{}\" to network.heads", first));
  }

  // Each measures an output that is trained.
  void check_metrics() {
    std::vector<std::string> fitting;
    const auto fits = [&](const MetricKind& metric) {
      return std::any_of(network_.outputs.begin(), network_.outputs.end(), [&](const nn::NetworkOutput& output) {
        return measures(metric, output.kind) &&
               (!job_.network.layers.empty() || nn::has_head(job_.network, output.name));
      });
    };
    for (const auto& metric : all_metrics())
      if (fits(metric)) fitting.push_back(metric.name);
    for (const auto& name : job_.training.metrics)
      if (!std::count(fitting.begin(), fitting.end(), name))
        add(470, "training.metrics", fmt::format("the metric \"{}\" can measure no output of the network", name))
            .expected(fmt::format("some of {}", joined(fitting, ", ")));
  }

  void check_count(const std::string& key, Split split, int64_t samples) {
    if (samples == 0 || !source_.nearest_count) return;
    const int64_t nearest = source_.nearest_count(split, samples);
    if (nearest != samples)
      add(417, key, fmt::format("{} must be {}", key, source_.counts)).help(fmt::format("use {}", nearest));
  }

  const Job& job_;
  const GivenKeys& given_;
  const nn::NetworkKind network_;
  const SourceKind& source_;
  std::vector<Error> errors_;
};

}  // namespace

std::vector<Error> find_misfits(const Job& job, const GivenKeys& given) { return Misfits(job, given).find(); }

}  // namespace retrace
