#pragma once
// Sources of data by name: retrace/data/sources/NAME.cpp defines `SourceKind NAME_source()`.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "retrace/base/kinds.h"
#include "retrace/base/option_rules.h"
#include "retrace/data/datastore.h"
#include "retrace/data/image_set.h"
#include "retrace/data/test_parts.h"
#include "retrace/nn/output.h"

namespace retrace {

// What other sets take from their training set, whether it was read or a run keeps it. What is empty is not known.
struct TrainingFacts {
  std::vector<std::string> class_names = {};              // in the order of the numbers of the classes
  std::vector<std::string> features = {}, targets = {};   // the names of a table's columns
  std::vector<std::vector<std::string>> categories = {};  // of each feature; none: it is a number
  std::vector<float> means = {};                          // of each feature, for empty cells
  Shape sizes = {};                                       // of images, as the store has them
};

// The part of a job that describes its data.
struct SourceRequest {
  std::filesystem::path path = {};  // the folder of the files
  int64_t samples = 0;              // the number wanted of this split; 0: all. A source may give more
  uint64_t seed = 0;                // of the job
  OptionValues options = {};        // of this source alone; complete
  TrainingFacts training = {};      // what a test set goes by; where that does not do, the training set is read
  bool whole = false;               // there is no test set: the training set may be `path` itself
  bool only_test = false;           // nothing is trained: the test set may be `path` itself
  double test_share = 0;            // where it is whole: the share that is put aside for tests
  bool any_size = false;  // images may differ in height and width where the options say none: transforms make them one

  // How many of `there` samples a source has to give.
  int64_t first_of(int64_t there) const { return samples > 0 ? std::min(samples, there) : there; }
};

struct SourceTarget {
  std::string name;  // of the output that is trained towards it
  nn::OutputKind kind = nn::OutputKind::class_scores;
};

// What is known of a split before its observations are read.
struct SourceDescription {
  int64_t samples = 0;
  std::vector<TensorSpec> variables;  // of one observation: the input first, then the targets
  int64_t classes = 0;                // targets that are classes are known to be below it; 0: they have to be read
  TrainingFacts facts = {};           // of a training set: what the test set gets
};

// A split that was read, and what is known of it.
struct SourceSet {
  Datastore store;
  int64_t classes = 0;       // as in its description
  TrainingFacts facts = {};  // the same
  // Of a set with SourceRequest::test_share: what it put aside, where the facts are of the other samples alone.
  std::optional<TestParts> parts = {};
  SourceSet(Datastore read, int64_t classes = 0, TrainingFacts facts = {})
      : store(std::move(read)), classes(classes), facts(std::move(facts)) {}
};

// What a look at files says of them.
struct DataLook {
  OptionValues options;                      // of a job on them
  std::map<std::string, std::string> notes;  // why some of these are as they are, in one line
};

// Samples that a trained run is asked about, without targets, and the file that each of them was read from.
struct SourceInputs {
  Datastore store;  // its first variable is the input
  std::vector<std::string> files;
};

struct SourceKind {
  std::string name;
  std::string_view help;              // one line
  std::vector<SourceTarget> targets;  // the variables after the input, in order: all that there may be
  bool reads_folder = false;          // whether it needs SourceRequest::path
  bool reads_objects = false;         // whether that may be one of object storage; else it gets a copy on the disk
  // Samples are rows up to a time, and what is learned lies behind them. Others read such files, too: `retrace init`
  // takes this source where it is named alone.
  bool forecasts = false;
  std::string_view files = {};           // what must be in that folder: "the four IDX files"
  std::vector<OptionRule> options = {};  // of this source alone
  // Whether there is that target, given the options of this source; not set: always.
  std::function<bool(const SourceTarget& target, const OptionValues& options)> has_target = {};
  // The keys of a job that say the shape of an input, where not all whole numbers among the options do:
  // "data.features".
  std::string_view size_keys = {};
  // The shape of one input, as far as the request says it: nothing is read. A size that the files say is 0.
  std::function<Shape(const SourceRequest& request)> sample;
  // The store of a split: the input first, then the targets.
  std::function<SourceSet(Split split, const SourceRequest& request)> load;
  // The store without its observations, from the request and the headers of files: `retrace plan` loads nothing else.
  // Errors: those that load() finds there.
  std::function<SourceDescription(Split split, const SourceRequest& request)> description;
  // What `retrace predict` reads from a file or a folder, where it is of a kind that only this source knows. Errors:
  // usage for files of another kind, else those that load() finds in files.
  std::function<SourceInputs(const std::filesystem::path& input, const SourceRequest& request)> inputs = {};
  // The names of the classes, where they have others than their numbers. Errors: those that load() finds there.
  std::function<std::vector<std::string>(const SourceRequest& request)> class_names = {};
  // The options of a job on a folder, as its files say them: for `retrace init`. Options that it does not give have
  // their standard values; not set: all of them do. Errors: those that load() finds there.
  std::function<OptionValues(const std::filesystem::path& folder)> look = {};
  // In its place, where the files have columns of which one is the target. `target`: its name; empty: the column that
  // looks like it. Errors: bad_data for one that is not there.
  std::function<DataLook(const std::filesystem::path& folder, const std::string& target)> look_for_target = {};
  // Another source that finds such files, too, and reads less of them: `retrace init` takes this one.
  std::string_view nearer_than = {};
  // The numbers of samples that it can give, if not any: a text ("a square number: ..."), and the nearest such number.
  std::string_view counts = {};
  std::function<int64_t(Split split, int64_t samples)> nearest_count = {};
  // The origin of a variable, for messages, if there is more to say than the name.
  std::function<std::string(Split split, int variable, const SourceRequest& request)> origin = {};
  // The text that tokens of these names say, where its targets are sequences of tokens.
  std::function<std::string(const std::vector<std::string>& tokens, const OptionValues& options)> text_of_tokens = {};
  // Writes the set into a folder, for `retrace data`, and returns a text for the user; and what it writes, in one line.
  std::function<std::string(const std::filesystem::path& folder)> write = {};
  std::string_view written = {};
};

// Every source, in the order of the files. Generated.
const std::vector<SourceKind>& all_sources();

// Those that there are with complete options, in the order of the variables.
std::vector<SourceTarget> targets_of(const SourceKind& source, const OptionValues& options);

// The index in `targets` of the target of that output; nothing if there is none of its name and kind.
std::optional<size_t> target_of(const std::vector<SourceTarget>& targets, const nn::NetworkOutput& output);

}  // namespace retrace
