#pragma once
// The rules of a job's values; used by job*.cpp.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/train/job.h"

namespace retrace {

struct Given {
  std::string place, shown;
  bool empty = false;  // a list without items
};
// The keys that somebody wrote, and where.
using GivenKeys = std::map<std::string, Given>;

constexpr size_t kMaxJobName = 64;
bool is_name_character(char c);
// Letters, digits, '.', '_', '-', not first '.' or '-': safe as a folder's name.
bool is_job_name(std::string_view name);

// A mistake in the value of a key, with its place if somebody wrote it.
Error job_mistake(const GivenKeys& given, int code, const std::string& key, const std::string& what);

// What is wrong with the values of a job, beside mistakes in the sections `faulty` ("": the top level) that are known.
// Combinations of fields are looked at only where all else is right, since a field that kept its default would give
// misleading texts: layers if [network] is right, and with the data if [data] is, too.
std::vector<Error> find_mistakes(const Job& job, const GivenKeys& given, std::set<std::string> faulty = {});
// What does not belong together in a job whose values are each in order: network, data and training.
std::vector<Error> find_misfits(const Job& job, const GivenKeys& given);

}  // namespace retrace
