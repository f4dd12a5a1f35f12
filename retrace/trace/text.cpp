#include "retrace/trace/text.h"

#include <fmt/format.h>

namespace retrace {
namespace {

struct Style {
  bool places = false, names = false;
};

std::string value_text(const Trace& trace, ValueId id, Style style) {
  return fmt::format("%{}", number_of(style.names ? trace.name(id) : id));
}

std::string list_of(const Trace& trace, std::span<const ValueId> ids, Style style) {
  std::string text;
  for (ValueId id : ids) text += (text.empty() ? "" : ", ") + value_text(trace, id, style);
  return text;
}

// The lines of a trace that is an attribute.
std::string indented(const std::string& lines, const std::string& indent) {
  std::string text;
  for (const char c : lines) {
    text += c;
    if (c == '\n') text += indent + "  ";
  }
  return text;
}

void print_into(std::string& text, const Trace& trace, Style style, const std::string& indent);

void print_into(std::string& text, const Trace& trace, const Node& node, Style style, const std::string& indent) {
  std::vector<ValueId> outputs;
  for (int i = 0; i < node.output_count; ++i) outputs.push_back(node.first_output + i);
  text += fmt::format("{}{} = {}({})", indent, list_of(trace, outputs, style), node.op->name,
                      list_of(trace, node.inputs, style));
  if (const auto attributes = node.attributes.print(); !attributes.empty()) text += " " + indented(attributes, indent);
  if (node.body) {
    text += " {\n";
    print_into(text, node.body->trace, style, indent + "  ");
    text += indent + "}";
  }
  if (style.places) {
    text += "  #";
    for (ValueId id : outputs) text += " " + trace.spec(id).text();
    if (const auto place = node.place.text(); !place.empty()) text += ", " + place;
  }
  text += "\n";
}

void print_into(std::string& text, const Trace& trace, Style style, const std::string& indent) {
  // Values in the order of their numbers, so that parsing numbers them alike.
  size_t next_input = 0;
  const auto print_inputs = [&](ValueId end) {
    for (; next_input < trace.inputs.size() && trace.inputs[next_input] < end; ++next_input) {
      const ValueId id = trace.inputs[next_input];
      text += fmt::format("{}{} = input {}\n", indent, value_text(trace, id, style), trace.spec(id).text());
    }
  };
  for (const auto& node : trace.nodes) {
    print_inputs(node.first_output);
    print_into(text, trace, node, style, indent);
  }
  print_inputs(static_cast<ValueId>(trace.values.size()));
  text += fmt::format("{}return{}{}\n", indent, trace.outputs.empty() ? "" : " ", list_of(trace, trace.outputs, style));
}

}  // namespace

std::string print_trace(const Trace& trace, bool places) {
  std::string text;
  print_into(text, trace, {.places = places}, "");
  return text;
}

std::string print_node(const Trace& trace, const Node& node) {
  std::string text;
  print_into(text, trace, node, {.names = true}, "");
  return text;
}

}  // namespace retrace
