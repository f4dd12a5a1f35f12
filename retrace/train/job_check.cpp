#include "retrace/train/job_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/file.h"
#include "retrace/device/device.h"
#include "retrace/train/job_fields.h"

namespace retrace {
namespace {

std::string shown(const std::string& value) { return fmt::format("\"{}\"", printable(value.substr(0, 80))); }
template <class Number>
  requires std::is_arithmetic_v<Number>
std::string shown(Number value) {
  return fmt::format("{}", value);
}

std::string bound(double value) {
  return value >= 1 && value <= 1e16 ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

class Checker {
 public:
  Checker(const Job& job, const GivenKeys& given) : job_(job), given_(given) {}

  std::vector<Error> run(bool combinations) {
    visit_job(job_, [&](const std::string& section, const char* name, const auto& value, const FieldRule& rule) {
      key_ = section.empty() ? name : section + "." + name;
      check(value, rule);
    });
    check_texts();
    if (errors_.empty() && combinations) check_applies(), check_combinations();
    return std::move(errors_);
  }

 private:
  Error mistake(int code, const std::string& key, const std::string& what) const {
    Error error(ErrorKind::usage, code, what);
    if (const auto found = given_.find(key); found != given_.end())
      error.where(found->second.place).got(found->second.shown);
    return error;
  }

  Error out_of_range(const std::string& what, const std::string& expected) const {
    return mistake(414, key_, fmt::format("{} {}", key_, what)).expected(expected);
  }

  void check(bool, const FieldRule&) {}

  template <class Value>
  void check(const std::optional<Value>& value, const FieldRule& rule) {
    if (value) check(*value, rule);
  }

  template <class Number>
    requires std::is_arithmetic_v<Number>
  void check(Number value, const FieldRule& rule) {
    const auto number = static_cast<double>(value);
    const bool good =
        rule.above_low ? number > rule.low && number <= rule.high : number >= rule.low && number <= rule.high;
    if (good) return;  // false for NaN
    auto error = out_of_range("is out of range", fmt::format("{} {} to {}", rule.above_low ? "above" : "from",
                                                             bound(rule.low), bound(rule.high)));
    if (!given_.count(key_)) error.got(shown(value));
    errors_.push_back(error);
  }

  void check(const std::string& value, const FieldRule& rule) {
    if (rule.choices.empty() || std::count(rule.choices.begin(), rule.choices.end(), value)) return;
    add_choice_error(value, rule);
  }

  void check(const std::vector<std::string>& values, const FieldRule& rule) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::count(rule.choices.begin(), rule.choices.end(), values[i])) return add_choice_error(values[i], rule);
      if (std::count(values.begin(), values.begin() + static_cast<ptrdiff_t>(i), values[i]))
        return errors_.push_back(out_of_range(fmt::format("has \"{}\" twice", values[i]), "each at most once"));
    }
    if (values.empty())
      errors_.push_back(out_of_range("is empty", fmt::format("some of {}", fmt::join(rule.choices, ", "))));
  }

  void add_choice_error(const std::string& value, const FieldRule& rule) {
    auto error = mistake(415, key_, fmt::format("{} has no choice {}", key_, shown(value)));
    error.got("").expected(fmt::format("{}", fmt::join(rule.choices, ", ")));
    if (const auto near = nearest(value, rule.choices); !near.empty())
      error.help(fmt::format("did you mean \"{}\"?", near));
    errors_.push_back(error);
  }

  void check_texts() {
    if (!is_job_name(job_.name))
      errors_.push_back(mistake(414, "name", "name cannot name a folder")
                            .got(shown(job_.name))
                            .expected("1 to 64 letters, digits, '.', '_' or '-', the first a letter or digit"));
    if (!is_device_name(job_.device)) {
      const auto near = nearest(job_.device, {"cpu", "cuda", "gpu", "auto", "cuda:0"});
      errors_.push_back(mistake(415, "device", fmt::format("device has no choice {}", shown(job_.device)))
                            .got("")
                            .expected("cpu, cuda, cuda:N, cuda:N,M, auto")
                            .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near)));
    }
    if (job_.data.path.find('\0') != std::string::npos)
      errors_.push_back(mistake(414, "data.path", "data.path has a NUL character"));
  }

  // Options of another solver, schedule, network or source.
  void check_applies() {
    visit_job(job_, [&](const std::string& section, const char* name, const auto&, const FieldRule& rule) {
      const std::string key = section.empty() ? name : section + "." + name;
      if (rule.applies || !given_.count(key)) return;
      errors_.push_back(
          mistake(416, key, fmt::format("{} has a meaning only with {}", key, rule.only_with)).help("remove it"));
    });
  }

  void check_combinations() {
    const auto& network = job_.network;
    const std::string source = job_.data.source.value_or("");
    const bool images = source == "digits" || (source == "mnist" && network.name != "autoencoder");
    const bool fits = network.name == "peaks"     ? source == "peaks"
                      : network.name == "cifar10" ? source == "cifar10-synthetic"
                                                  : images;
    if (!fits)
      errors_.push_back(mistake(417, "data.source",
                                fmt::format("network \"{}\" cannot train on data source \"{}\"", network.name, source))
                            .got("")
                            .expected(network.name == "peaks"         ? "peaks"
                                      : network.name == "cifar10"     ? "cifar10-synthetic"
                                      : network.name == "autoencoder" ? "digits"
                                                                      : "digits, mnist"));
    if (network.name == "digits" && !std::count(network.heads.begin(), network.heads.end(), "class"))
      errors_.push_back(mistake(417, "network.heads", "network \"digits\" always trains the class")
                            .expected("network.heads = [\"class\"] or [\"class\", \"angle\"]"));
    if (source == "mnist" && network.name == "digits" &&
        std::count(network.heads.begin(), network.heads.end(), "angle"))
      errors_.push_back(
          mistake(417, "network.heads", "data source \"mnist\" has no angles").help("set network.heads = [\"class\"]"));
    if (source == "mnist" && job_.data.path.empty())
      errors_.push_back(mistake(417, "data.path", "data.path is missing")
                            .expected("the folder of the four IDX files")
                            .help("add --set data.path=DIR"));
    if (job_.training.shards > job_.training.mini_batch_size)
      errors_.push_back(
          mistake(417, "training.shards", "training.shards is larger than a mini-batch")
              .expected(fmt::format("at most training.mini_batch_size = {}", job_.training.mini_batch_size))
              .help("a shard without samples computes nothing: set fewer shards, or a larger mini-batch"));
    if (network.name == "peaks" && network.width.value_or(4) < 4)
      errors_.push_back(
          mistake(414, "network.width", "network.width is too small for network \"peaks\"").expected("at least 4"));
    if (source == "peaks")
      check_square("data.train_samples", job_.data.train_samples, 4),
          check_square("data.test_samples", job_.data.test_samples, 1);
  }

  void check_square(const std::string& key, int samples, int64_t least) {
    int64_t side = 0;
    while ((side + 1) * (side + 1) <= samples) ++side;
    const int64_t square = side * side;
    if (samples != 0 && (square != samples || square < least))
      errors_.push_back(
          mistake(417, key, fmt::format("{} must be a square number: the peaks surface is sampled on a grid", key))
              .help(fmt::format("use {}", std::max(square, least))));
  }

  const Job& job_;
  const GivenKeys& given_;
  std::string key_;
  std::vector<Error> errors_;
};

}  // namespace

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

bool is_job_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxJobName && name[0] != '.' && name[0] != '-' && name[0] != '_' &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

std::vector<Error> find_mistakes(const Job& job, const GivenKeys& given, bool combinations) {
  return Checker(job, given).run(combinations);
}

void check_job(const Job& job) { throw_all(find_mistakes(resolved(job), {}, true)); }

}  // namespace retrace
