#pragma once
// Parts of a page in HTML that needs nothing but itself: no script, no file, no network.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/monitor/monitor.h"

namespace retrace {

// Texts are the user's and are escaped here; what is called `html` is not.
std::string section_html(std::string_view title, const std::string& html);
// What is shown when its summary is clicked.
std::string details_html(std::string_view summary, const std::string& html);
std::string paragraph_html(std::string_view text);
std::string pre_html(std::string_view text);
// Names and values in two columns.
std::string pairs_html(const std::vector<std::pair<std::string, std::string>>& rows);
// The first row is the heading.
std::string table_html(const std::vector<std::vector<std::string>>& rows);
// Counts by classes: the deeper the colour, the larger the share of its row. `names`: of rows and columns.
std::string confusion_html(const MetricTable& counts, const std::vector<std::string>& names);
// Two pictures of which a switch with this label shows the second. `id`: of the switch, once in a page.
std::string switch_html(std::string_view id, std::string_view label, const std::string& first_html,
                        const std::string& second_html);

// The whole page.
std::string page_html(std::string_view title, const std::string& html);

// "data:image/png;base64,..." of a PNG file.
std::string data_address(std::string_view png);

}  // namespace retrace
