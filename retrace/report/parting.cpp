#include "retrace/report/parting.h"

#include <fstream>

#include "retrace/base/json_value.h"
#include "retrace/train/step_log.h"

namespace retrace {
namespace {

uint64_t hex(const std::string& digits) { return digits.empty() ? 0 : std::stoull("0" + digits, nullptr, 16); }

bool is_hex(const std::string& text) {
  return text.size() <= 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// False for a line that is no step.
bool read_step(const std::string& line, StepRecord& step) {
  const auto value = JsonValue::parse(line);
  if (!value || !value->is_object()) return false;
  step.iteration = value->integer_or("iteration", 0);
  step.loss = value->number_or("loss", 0);
  step.learn_rate = value->number_or("learn_rate", 0);
  const std::string samples = value->string_or("samples", "");
  if (step.iteration < 1 || !is_hex(samples)) return false;
  step.samples = hex(samples);
  const JsonValue* tensors = value->find("tensors");
  if (!tensors || !tensors->members()) return true;
  for (const auto& [name, digits] : *tensors->members())
    if (digits.string() && is_hex(*digits.string())) step.tensors[name] = hex(*digits.string());
  return true;
}

}  // namespace

Parting find_parting(const std::filesystem::path& a, const std::filesystem::path& b) {
  Parting parting;
  std::ifstream file_a(step_log_path(a)), file_b(step_log_path(b));
  for (std::string line_a, line_b; std::getline(file_a, line_a) && std::getline(file_b, line_b); ++parting.common) {
    if (file_a.eof() || file_b.eof()) break;  // torn, or still written
    if (line_a == line_b) continue;
    StepRecord step_a, step_b;
    if (!read_step(line_a, step_a) || !read_step(line_b, step_b) || step_a.iteration != step_b.iteration) break;
    parting.what = first_difference(step_a, step_b);
    if (parting.what.empty()) continue;  // fingerprints that one of them did not take
    parting.iteration = step_a.iteration;
    break;
  }
  return parting;
}

}  // namespace retrace
