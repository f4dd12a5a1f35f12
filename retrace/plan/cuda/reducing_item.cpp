#include <fmt/format.h>

#include "retrace/plan/cuda/reducing_body.h"

namespace retrace {
namespace {

class ItemWriter {
 public:
  ItemWriter(const Trace& body, const ChainText& text_of, const ReducingBody& parts)
      : body_(body), text_of_(text_of), parts_(parts), whole_(body.spec(parts.reductions[0].inputs[0]).shape) {}

  // The elements of a whole item are taken without asking whether they are there.
  std::string item() const {
    ItemText text = item_text();
    std::string values, elements, added, made;
    for (size_t k = 0; k < parts_.reductions.size(); ++k) {
      const Node& node = parts_.reductions[k];
      values += fmt::format("    float s{}{};\n", k, is_sum(node) ? " = 0.0f" : "[16] = {}");
      elements += fmt::format("          float e{} = 0.0f;\n", k);
      text.made += fmt::format("            e{} = v{};\n", k, node.inputs[0]);
      added += is_sum(node) ? fmt::format("          s{0} = s{0} + e{0};\n", k)
                            : fmt::format("          s{0}[from + j] = e{0};\n", k);
      made += k ? ", " : "";
      made +=
          is_sum(node) ? fmt::format("s{}", k) : fmt::format("moments_of_item<by_row>(s{}, lane_is.present, count)", k);
    }
    const char* const place =
        "          [[maybe_unused]] const unsigned at = static_cast<unsigned>(from + j) * step, i = lane_is.first + "
        "at;\n";
    return fmt::format(
        "    constexpr int together = {0};\n"
        "    const LaneElements lane_is = elements_of_lane<by_row, step>(a, o, lane, p, count);\n{1}{2}"
        "    const auto take = [&]<bool whole>() {{\n"
        "      RT_UNROLL\n      for (int from = 0; from < 16; from += together) {{\n{3}        RT_UNROLL\n"
        "        for (int j = 0; j < together; ++j) {{\n"
        "          if (!whole && from + j >= lane_is.present) continue;\n{4}{5}        }}\n"
        "        RT_UNROLL\n        for (int j = 0; j < together; ++j) {{\n{6}"
        "          if (whole || from + j < lane_is.present) {{\n  {4}{7}          }}\n"
        "{8}        }}\n      }}\n    }};\n"
        "    if (lane_is.present == 16) take.template operator()<true>();\n"
        "    else if (lane_is.present > 0) take.template operator()<false>();\n    return {{{9}}};\n",
        loaded_together(text.loaded), text.before, values, text.arrays, place, text.loads, elements, text.made, added,
        made);
  }

 private:
  const TensorSpec& spec(ValueId id) const { return body_.spec(id); }

  std::string statement(const Node& node) const {
    const ValueId made = node.first_output;
    return fmt::format("const {} v{} = {};\n", text_of_.type(made), made, text_of_.computed(node));
  }

  // Where an input is read with one index by all elements of a lane: there; else "".
  std::string place_in_lane(ValueId id) const {
    const std::string place = index_of(spec(id).shape, whole_);
    if (place == "0") return place;
    const int64_t count = spec(id).count();
    if (parts_.by_row || place != fmt::format("i % {}u", count) || parts_.shape.channels % count != 0) return "";
    return count == parts_.shape.channels ? "lane" : fmt::format("lane % {}", count);
  }

  // What an item reads before its elements, and how an element of it is loaded, made and written.
  struct ItemText {
    std::string before, arrays, loads, made;
    size_t loaded = 0;  // values of an element
  };

  // Arrays of the chain's own shape are read from the lane's first element on, with constants as distances.
  void add_input(size_t i, ItemText& text) const {
    const ValueId id = body_.inputs[i];
    const char* const type = text_of_.type(id);
    if (const std::string place = place_in_lane(id); !place.empty()) {
      text.before += fmt::format("    {0} v{1}{{}};\n    if (lane_is.present > 0) v{1} = {2};\n", type, id,
                                 text_of_.loaded(id, fmt::format("a.in{}[{}]", i, place)));
      return;
    }
    std::string place = index_of(spec(id).shape, whole_);
    if (place == "i") {
      text.before +=
          fmt::format("    const Global<const {0}> in{1} = a.in{1} + lane_is.first;\n", memory_type(spec(id).type), i);
      place = fmt::format("in{}[at]", i);
    } else {
      place = fmt::format("a.in{}[{}]", i, place);
    }
    text.arrays += fmt::format("        {} x{}[together] = {{}};\n", type, id);
    text.loads += fmt::format("          x{}[j] = {};\n", id, text_of_.loaded(id, place));
    text.made += fmt::format("            const {0} v{1} = x{1}[j];\n", type, id);
    ++text.loaded;
  }

  ItemText item_text() const {
    ItemText text;
    for (size_t i = 0; i < body_.inputs.size(); ++i)
      if (const ValueId id = body_.inputs[i]; reads_elements(parts_.chain, id) || reads_elements(parts_.reductions, id))
        add_input(i, text);
    for (const Node& node : parts_.chain) {
      if (makes_elements(node)) {
        text.arrays += fmt::format("        float x{}[together] = {{}};\n", node.first_output);
        text.loads += fmt::format("          x{}[j] = {};\n", node.first_output, element_text(body_, node));
        text.made += fmt::format("            const float v{0} = x{0}[j];\n", node.first_output);
        text.loaded += 4;
      } else {
        text.made += "            " + statement(node);
      }
    }
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      if (const ValueId id = body_.outputs[i]; makes_value(parts_.chain, id)) {
        text.before +=
            fmt::format("    const Global<{0}> out{1} = a.out{1} + lane_is.first;\n", memory_type(spec(id).type), i);
        text.made += fmt::format("            out{}[at] = {};\n", i, text_of_.stored(id));
      }
    return text;
  }

  // So many elements of a thread are loaded before one is computed, so that the loads do not wait for each other.
  static int loaded_together(size_t values) { return values <= 1 ? 16 : values <= 3 ? 8 : 4; }

  const Trace& body_;
  const ChainText& text_of_;
  const ReducingBody& parts_;
  const Shape& whole_;  // of what is reduced
};

}  // namespace

bool reads_elements(std::span<const Node> nodes, ValueId id) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return !makes_elements(node) && std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
  });
}

bool makes_value(std::span<const Node> nodes, ValueId id) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    return node.first_output <= id && id < node.first_output + node.output_count;
  });
}

ReducingBody::ReducingBody(const Trace& body) : shape(Shape{}, Shape{}), by_row(false) {
  const auto& nodes = body.nodes;
  const auto first = std::find_if(nodes.begin(), nodes.end(), is_reduction);
  const auto behind = std::find_if_not(first, nodes.end(), is_reduction);
  chain = {nodes.begin(), first}, reductions = {first, behind}, results = {behind, nodes.end()};
  shape = reduced_shape(body, *first), by_row = !shape.by_column;
}

int64_t ReducingBody::value_bytes() const {
  int64_t bytes = 0;
  for (const Node& node : reductions) bytes += is_sum(node) ? 4 : 8;
  return bytes;
}

std::string reducing_item(const Trace& body, const ChainText& text_of, const ReducingBody& parts) {
  return ItemWriter(body, text_of, parts).item();
}

}  // namespace retrace
