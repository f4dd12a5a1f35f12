#include "retrace/train/job_digest.h"

#include <fmt/format.h>

#include "retrace/train/versions.h"

namespace retrace {

NamedValues job_digest(const Job& job, const JobData& data) {
  NamedValues values = job_identity(job);
  for (auto& entry : data.train.identity("training set")) values.push_back(std::move(entry));
  for (auto& entry : data.test.identity("test set")) values.push_back(std::move(entry));
  values.emplace_back("the version of retrace", RETRACE_VERSION);
  values.emplace_back("the version of the contract", fmt::format("{}", kContractVersion));
  return values;
}

}  // namespace retrace
