// What kernels report reaches the host: the lowest position in every order, the first launch, nothing twice.
#include "retrace/device/cuda/value_errors.h"

#include <fmt/format.h>

#include <limits>

#include "retrace/device/cuda/emulation/fixture_test.h"

namespace retrace::cuda::emulation {
namespace {

class EmulatedValueErrors : public Emulation {
 protected:
  static ValueErrors::Describe describe(std::string name) {
    return [name](int64_t position, int32_t value) {
      return Error(ErrorKind::usage, 177, fmt::format("{}: {} at {}", name, value, position));
    };
  }
  Launch launch_of(const ValueErrors::Source& source, const std::vector<int>& values) {
    auto* const x = static_cast<int*>(runtime_->allocate(values.size() * sizeof(int)));
    runtime_->copy_from_host(x, values.data(), values.size() * sizeof(int));
    const auto count = static_cast<unsigned>(values.size());
    Launch launch{&runtime_->find_kernel("probe_report"), {(count + 63) / 64}, {64}, 0, {}};
    launch.set(ReportArguments{x, count, source.target()});
    return launch;
  }
  std::string thrown() {
    try {
      runtime_->synchronize();
      errors_.check();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }
  static std::vector<int> bad() {
    std::vector<int> values(500, 1);
    values[77] = -3, values[78] = -9, values[490] = -5;
    return values;
  }

  ValueErrors errors_{*runtime_};
};

TEST_F(EmulatedValueErrors, TheLowestPositionIsToldInEveryOrder) {
  const ValueErrors::Source source(errors_, describe("probe"));
  for (const auto order : {Order::ascending, Order::descending, Order::seeded}) {
    set_order(order, 3);
    runtime_->launch(launch_of(source, bad()));
    EXPECT_EQ(thrown(), "probe: -3 at 77");
    EXPECT_EQ(thrown(), "");
  }
}

TEST_F(EmulatedValueErrors, NoneWithoutAReport) {
  EXPECT_EQ(thrown(), "");
  const ValueErrors::Source source(errors_, describe("probe"));
  runtime_->launch(launch_of(source, std::vector<int>(100, 0)));
  EXPECT_EQ(thrown(), "");
}

TEST_F(EmulatedValueErrors, TheFirstLaunchIsToldAndAReplayAnew) {
  const ValueErrors::Source first(errors_, describe("first")), second(errors_, describe("second"));
  const std::vector<Launch> launches{launch_of(second, bad()), launch_of(first, {-1})};
  const auto graph = runtime_->make_line(launches);
  for (int i = 0; i < 3; ++i) {
    graph->run();
    EXPECT_EQ(thrown(), "second: -3 at 77");
    EXPECT_EQ(thrown(), "");
  }
}

TEST_F(EmulatedValueErrors, AReportOutlivesItsSource) {
  {
    const ValueErrors::Source source(errors_, describe("gone"));
    runtime_->launch(launch_of(source, bad()));
  }
  const ValueErrors::Source later(errors_, describe("later"));
  runtime_->launch(launch_of(later, {-1}));
  EXPECT_EQ(thrown(), "gone: -3 at 77");
  EXPECT_EQ(thrown(), "");
}

TEST_F(EmulatedValueErrors, ExtremeValuesArrive) {
  const ValueErrors::Source source(errors_, describe("probe"));
  runtime_->launch(launch_of(source, {0, std::numeric_limits<int>::min()}));
  EXPECT_EQ(thrown(), "probe: -2147483648 at 1");
  runtime_->launch(launch_of(source, {-1}));
  EXPECT_EQ(thrown(), "probe: -1 at 0");
}

}  // namespace
}  // namespace retrace::cuda::emulation
