#include "retrace/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/monitor/svg.h"

namespace retrace {
namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2937; background: #f3f4f6; margin: 0 auto; max-width: 1120px;
  padding: 16px; }
h1 { font-size: 24px; margin: 8px 0; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 8px; }
section { background: #fff; border: 1px solid #e5e7eb; border-radius: 8px; padding: 16px; margin: 16px 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { padding: 3px 10px; border-bottom: 1px solid #e5e7eb; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; }
table.numbers td + td, table.numbers th + th { text-align: right; font-variant-numeric: tabular-nums; }
table.counts td { text-align: right; min-width: 32px; }
svg { max-width: 100%; height: auto; }
pre { font-size: 13px; background: #f9fafb; padding: 12px; overflow-x: auto; margin: 8px 0; }
code { font-size: 13px; }
summary { cursor: pointer; }
.switch { margin-right: 6px; }
.switch ~ .second { display: none; }
.switch:checked ~ .first { display: none; }
.switch:checked ~ .second { display: block; }
.charts { display: flex; flex-wrap: wrap; gap: 8px; }
.samples { display: flex; flex-wrap: wrap; gap: 12px; }
.samples figure { margin: 0; padding: 6px; border: 2px solid #d1d5db; border-radius: 6px; font-size: 13px; max-width: 320px; }
.samples figure.wrong { border-color: #dc2626; }
.samples img { height: 96px; min-width: 32px; image-rendering: pixelated; display: inline-block; margin-right: 2px; }
.samples figcaption { max-width: 220px; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  :root { color-scheme: dark; }
  body { color: #e6e9ec; background: #101316; }
  section { background: #1a1a1a; border-color: #343a41; }
  th, td, .samples figure { border-color: #343a41; }
  pre { background: #101316; }
  svg { filter: invert(0.9) hue-rotate(180deg); }
}
)";

std::string rows_html(const std::vector<std::vector<std::string>>& rows) {
  std::string html;
  for (size_t r = 0; r < rows.size(); ++r) {
    html += "<tr>";
    for (const auto& cell : rows[r]) html += fmt::format("<{0}>{1}</{0}>", r == 0 ? "th" : "td", markup_text(cell));
    html += "</tr>\n";
  }
  return html;
}

}  // namespace

std::string section_html(std::string_view title, const std::string& html) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", markup_text(title), html);
}

std::string details_html(std::string_view summary, const std::string& html) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", markup_text(summary), html);
}

std::string paragraph_html(std::string_view text) { return fmt::format("<p>{}</p>\n", markup_text(text)); }

std::string pre_html(std::string_view text) {
  std::string lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines += markup_text(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return "<pre>" + lines + "</pre>\n";
}

std::string pairs_html(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string html = "<table>\n";
  for (const auto& [name, value] : rows)
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", markup_text(name), markup_text(value));
  return html + "</table>\n";
}

std::string table_html(const std::vector<std::vector<std::string>>& rows) {
  return "<table class=\"numbers\">\n" + rows_html(rows) + "</table>\n";
}

std::string confusion_html(const MetricTable& counts, const std::vector<std::string>& names) {
  std::string html = "<table class=\"counts\">\n<tr><th></th>";
  for (const auto& name : names) html += fmt::format("<th>{}</th>", markup_text(name));
  html += "</tr>\n";
  for (size_t r = 0; r < counts.size(); ++r) {
    double all = 0;
    for (const double count : counts[r]) all += count;
    html += fmt::format("<tr><th>{}</th>", markup_text(names[r]));
    for (size_t c = 0; c < counts[r].size(); ++c) {
      const double share = all > 0 ? counts[r][c] / all : 0;
      html += fmt::format("<td style=\"background:rgba({},{:.3f}){}\">{:g}</td>", r == c ? "37,99,235" : "220,38,38",
                          share, share > 0.6 ? ";color:#fff" : "", counts[r][c]);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string switch_html(std::string_view id, std::string_view label, const std::string& first_html,
                        const std::string& second_html) {
  return fmt::format(
      "<div><input class=\"switch\" type=\"checkbox\" id=\"{0}\"><label for=\"{0}\">{1}</label>\n"
      "<div class=\"first\">{2}</div>\n<div class=\"second\">{3}</div></div>\n",
      id, markup_text(label), first_html, second_html);
}

std::string page_html(std::string_view title, const std::string& html) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n</html>\n",
      markup_text(title), kStyle, html);
}

std::string data_address(std::string_view png) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "data:image/png;base64,";
  for (size_t i = 0; i < png.size(); i += 3) {
    const auto byte = [&](size_t at) -> uint32_t { return at < png.size() ? static_cast<unsigned char>(png[at]) : 0; };
    const uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int digit = 0; digit < 4; ++digit)
      text += i + static_cast<size_t>(digit) > png.size() ? '=' : kDigits[bits >> (18 - 6 * digit) & 63];
  }
  return text;
}

}  // namespace retrace
