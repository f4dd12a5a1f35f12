#include "retrace/train/network_toml.h"

#include <fmt/format.h>

namespace retrace {
namespace {

std::string toml(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\u{:04X}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string toml(bool value) { return value ? "true" : "false"; }
std::string toml(int64_t value) { return fmt::format("{}", value); }
// Shortest text that reads back to the same bits; TOML wants a point or an exponent.
std::string toml(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

template <class Value>
std::string list_text(const std::vector<Value>& values) {
  std::string out;
  for (const auto& value : values) out += (out.empty() ? "" : ", ") + toml(value);
  return "[" + out + "]";
}

std::string toml(const std::vector<std::string>& texts) { return list_text(texts); }
std::string toml(const std::vector<int64_t>& numbers) {
  return numbers.size() == 1 ? toml(numbers[0]) : list_text(numbers);
}

std::string toml(const std::vector<double>& numbers) {
  return numbers.size() == 1 ? toml(numbers[0]) : list_text(numbers);
}

// {a = 1, b = 2}
class InlineTable {
 public:
  void add(const std::string& key, const std::string& value) {
    text_ += fmt::format("{}{} = {}", text_.empty() ? "" : ", ", key, value);
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// A list without items, and a text without letters, stand for a value that nobody gave.
bool says_nothing(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  const auto* numbers = std::get_if<std::vector<int64_t>>(&value);
  return numbers && numbers->empty();
}

std::string layers_text(const std::vector<nn::LayerText>& layers, const std::string& indent);

std::string layer_text(const nn::LayerText& layer, const std::string& indent) {
  InlineTable table;
  if (!layer.type.empty()) table.add("type", toml(layer.type));
  if (!layer.name.empty()) table.add("name", toml(layer.name));
  if (!layer.from.empty()) table.add("from", toml(layer.from));
  for (const auto& [name, value] : layer.options)
    if (!says_nothing(value)) table.add(name, toml_text(value));
  if (layer.learn_rate_factor != 1) table.add("learn_rate_factor", toml(layer.learn_rate_factor));
  if (layer.l2_factor != 1) table.add("l2_factor", toml(layer.l2_factor));
  if (layer.frozen) table.add("frozen", toml(true));
  if (layer.repeat != 1) table.add("repeat", toml(layer.repeat));
  if (!layer.layers.empty()) table.add("layers", layers_text(layer.layers, indent));
  return table.text();
}

std::string layers_text(const std::vector<nn::LayerText>& layers, const std::string& indent) {
  std::string out = "[\n";
  for (const auto& layer : layers) out += fmt::format("{}  {},\n", indent, layer_text(layer, indent + "  "));
  return out + indent + "]";
}

}  // namespace

std::string toml_text(const OptionValue& value) {
  return std::visit([](const auto& typed) { return toml(typed); }, value);
}

std::string toml_text(const std::vector<nn::LayerText>& layers) {
  return layers.empty() ? "" : layers_text(layers, "");
}

std::string toml_text(const std::vector<nn::NetworkOutput>& outputs) {
  if (outputs.empty()) return "";
  std::string out = "[\n";
  for (const auto& output : outputs) {
    InlineTable table;
    table.add("name", toml(output.name));
    if (!output.from.empty()) table.add("from", toml(output.from));
    table.add("loss", toml(output.loss));
    table.add("weight", toml(output.weight));
    table.add("metric", toml(output.metric));
    if (output.label_smoothing != 0) table.add("label_smoothing", toml(output.label_smoothing));
    if (!output.class_weights.empty()) table.add("class_weights", toml(output.class_weights));
    if (output.ignore_index) table.add("ignore_index", toml(*output.ignore_index));
    out += fmt::format("  {},\n", table.text());
  }
  return out + "]";
}

std::string toml_text(const std::vector<ParameterGroup>& groups) {
  if (groups.empty()) return "";
  std::string out = "[\n";
  for (const auto& group : groups) {
    InlineTable table;
    table.add("parameters", toml(group.parameters));
    if (group.learn_rate_factor != 1) table.add("learn_rate_factor", toml(group.learn_rate_factor));
    if (group.l2_factor != 1) table.add("l2_factor", toml(group.l2_factor));
    if (group.frozen) table.add("frozen", toml(true));
    for (const auto& [name, value] : group.options) table.add(name, toml_text(value));
    out += fmt::format("  {},\n", table.text());
  }
  return out + "]";
}

}  // namespace retrace
