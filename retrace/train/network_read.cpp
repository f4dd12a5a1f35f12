#include "retrace/train/network_read.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/nearest.h"

namespace retrace {
namespace {

// Reads tables; what has the wrong form becomes an error with its place.
class TableReader {
 public:
  TableReader(std::string file, std::vector<Error>& errors) : file_(std::move(file)), errors_(errors) {}

 protected:
  std::string place_of(const toml::node& node) const {
    const auto position = node.source().begin;
    return position ? fmt::format("{}:{}:{}", file_, position.line, position.column) : file_;
  }

  Error& wrong(const toml::node& node, const std::string& what, const std::string& expected) {
    return errors_.emplace_back(
        Error(ErrorKind::usage, 456, fmt::format("{} must be {}", what, expected)).where(place_of(node)));
  }

  void read(const toml::node& node, const std::string& what, std::string& value) {
    if (const auto* text = node.as_string())
      value = text->get();
    else
      wrong(node, what, "a text");
  }

  void read(const toml::node& node, const std::string& what, int64_t& value) {
    if (const auto* number = node.as_integer())
      value = number->get();
    else
      wrong(node, what, "a whole number");
  }

  void read(const toml::node& node, const std::string& what, double& value) {
    if (const auto* whole = node.as_integer())
      value = static_cast<double>(whole->get());
    else if (const auto* number = node.as_floating_point())
      value = number->get();
    else
      wrong(node, what, "a number");
  }

  void read(const toml::node& node, const std::string& what, bool& value) {
    if (const auto* truth = node.as_boolean())
      value = truth->get();
    else
      wrong(node, what, "true or false");
  }

  // One value, or a list of them.
  template <class T>
  void read(const toml::node& node, const std::string& what, std::vector<T>& value) {
    const auto* list = node.as_array();
    if (!list) return read(node, what, value.emplace_back());
    for (const auto& item : *list) read(item, what, value.emplace_back());
  }

  void read_option(const toml::node& node, const std::string& name, OptionValues& options) {
    if (const auto* truth = node.as_boolean())
      options.set(name, truth->get());
    else if (const auto* whole = node.as_integer())
      options.set(name, whole->get());
    else if (const auto* number = node.as_floating_point())
      options.set(name, number->get());
    else if (const auto* text = node.as_string())
      options.set(name, text->get());
    else if (const auto* list = node.as_array())
      read_numbers(*list, name, options);
    else
      wrong(node, name, "true or false, a number, a text, or a list of whole numbers");
  }

  void read_numbers(const toml::array& list, const std::string& name, OptionValues& options) {
    if (!list.empty() && list.is_homogeneous(toml::node_type::string)) {  // the key, or its value, is a mistake
      std::vector<std::string> texts;
      for (const auto& item : list) texts.push_back(item.as_string()->get());
      options.set(name, std::move(texts));
      return;
    }
    std::vector<int64_t> numbers;
    for (const auto& item : list) {
      if (!item.is_integer()) {
        wrong(item, name, "true or false, a number, a text, or a list of whole numbers");
        return;
      }
      numbers.push_back(item.as_integer()->get());
    }
    options.set(name, std::move(numbers));
  }

  const std::string file_;
  std::vector<Error>& errors_;
};

class LayerReader : TableReader {
 public:
  using TableReader::TableReader;

  std::vector<nn::LayerText> read_list(const toml::array& list) {
    std::vector<nn::LayerText> layers;
    for (const auto& node : list)
      if (const auto* table = node.as_table())
        layers.push_back(read_layer(*table));
      else
        wrong(node, "a layer", "a table: {type = \"relu\"}");
    return layers;
  }

 private:
  nn::LayerText read_layer(const toml::table& table) {
    nn::LayerText layer;
    layer.place = place_of(table);
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "type")
        read(node, "the type of a layer", layer.type);
      else if (name == "name")
        read(node, "the name of a layer", layer.name);
      else if (name == "from")
        read(node, "from", layer.from);
      else if (name == "repeat")
        read(node, "repeat", layer.repeat);
      else if (name == "learn_rate_factor")
        read(node, name, layer.learn_rate_factor);
      else if (name == "l2_factor")
        read(node, name, layer.l2_factor);
      else if (name == "frozen")
        read(node, name, layer.frozen);
      else if (name == "layers" && node.is_array())
        layer.layers = read_list(*node.as_array());
      else if (name == "layers")
        wrong(node, "layers", "a list of layers");
      else
        read_option(node, printable(name), layer.options);
    }
    return layer;
  }
};

class OutputReader : TableReader {
 public:
  using TableReader::TableReader;

  std::vector<nn::NetworkOutput> read_list(const toml::array& list) {
    std::vector<nn::NetworkOutput> outputs;
    for (const auto& node : list)
      if (const auto* table = node.as_table())
        outputs.push_back(read_output(*table));
      else
        wrong(node, "an output", "a table: {name = \"class\"}");
    return outputs;
  }

 private:
  nn::NetworkOutput read_output(const toml::table& table) {
    nn::NetworkOutput output;
    output.loss.clear(), output.metric.clear();
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "name")
        read(node, "the name of an output", output.name);
      else if (name == "from")
        read(node, "from", output.from);
      else if (name == "loss")
        read(node, "the loss of an output", output.loss);
      else if (name == "metric")
        read(node, "the metric of an output", output.metric);
      else if (name == "weight")
        read(node, "the weight of an output", output.weight);
      else if (name == "label_smoothing")
        read(node, "the label_smoothing of an output", output.label_smoothing);
      else if (name == "ignore_index")
        read(node, "the ignore_index of an output", output.ignore_index.emplace());
      else if (name == "class_weights")
        read(node, "the class_weights of an output", output.class_weights);
      else
        add_unknown(node, name);
    }
    if (output.name.empty()) wrong(table, "the name of an output", "that of a target of the data");
    return output;
  }

  void add_unknown(const toml::node& node, const std::string& name) {
    const auto near = nearest(name, output_keys());
    errors_.emplace_back(ErrorKind::usage, 457, fmt::format("unknown key \"{}\" of an output", printable(name)))
        .where(place_of(node))
        .expected(joined(output_keys(), ", "))
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }
};

// What the solver knows of the options of a group is looked at later.
class GroupReader : TableReader {
 public:
  using TableReader::TableReader;

  std::vector<ParameterGroup> read_list(const toml::array& list) {
    std::vector<ParameterGroup> groups;
    for (const auto& node : list)
      if (const auto* table = node.as_table())
        groups.push_back(read_group(*table));
      else
        wrong(node, "a group", "a table: {parameters = \"*bias\"}");
    return groups;
  }

 private:
  ParameterGroup read_group(const toml::table& table) {
    ParameterGroup group;
    group.place = place_of(table);
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "parameters")
        read(node, "the parameters of a group", group.parameters);
      else if (name == "learn_rate_factor")
        read(node, name, group.learn_rate_factor);
      else if (name == "l2_factor")
        read(node, name, group.l2_factor);
      else if (name == "frozen")
        read(node, name, group.frozen);
      else if (const auto* list = node.as_array(); list && !list->empty() && (*list)[0].is_string())
        read_texts(*list, printable(name), group.options);
      else
        read_option(node, printable(name), group.options);
    }
    if (group.parameters.empty()) add_missing(table, group);
    return group;
  }

  void add_missing(const toml::table& table, const ParameterGroup& group) {
    Error& error = wrong(table, "the parameters of a group", "patterns of their names: parameters = \"*bias\"");
    for (const auto& option : group.options)
      if (!nearest(option.first, {"parameters"}).empty())
        error.got(fmt::format("\"{}\"", option.first)).help("did you mean \"parameters\"?");
  }

  void read_texts(const toml::array& list, const std::string& name, OptionValues& options) {
    std::vector<std::string> texts;
    for (const auto& item : list) read(item, name, texts.emplace_back());
    options.set(name, std::move(texts));
  }
};

}  // namespace

const std::vector<std::string>& output_keys() {
  static const std::vector<std::string> keys{
      "name", "from", "loss", "weight", "metric", "label_smoothing", "ignore_index", "class_weights"};
  return keys;
}

LayersValue read_layers(const toml::array& list, const std::string& file) {
  LayersValue value;
  value.layers = LayerReader(file, value.errors).read_list(list);
  return value;
}

OutputsValue read_outputs(const toml::array& list, const std::string& file) {
  OutputsValue value;
  value.outputs = OutputReader(file, value.errors).read_list(list);
  return value;
}

GroupsValue read_groups(const toml::array& list, const std::string& file) {
  GroupsValue value;
  value.groups = GroupReader(file, value.errors).read_list(list);
  return value;
}

}  // namespace retrace
