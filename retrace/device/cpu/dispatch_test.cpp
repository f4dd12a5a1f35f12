#include "retrace/device/cpu/dispatch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "retrace/base/error.h"

namespace retrace {
namespace {

TEST(Dispatch, ScalarIsLastAndEveryNameCanBeChosen) {
  const SimdTarget before = simd_target();
  ASSERT_FALSE(simd_targets().empty());
  EXPECT_EQ(simd_targets().back(), SimdTarget::scalar);
  for (const SimdTarget target : simd_targets()) {
    set_simd_target(name_of(target));
    EXPECT_EQ(simd_target(), target);
  }
  set_simd_target(name_of(before));
}

TEST(Dispatch, UnknownNameListsTheTargets) {
  const SimdTarget before = simd_target();
  try {
    set_simd_target("sse9");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    const std::string text = error.what();
    EXPECT_NE(text.find("\"sse9\""), std::string::npos) << text;
    for (const SimdTarget target : simd_targets())
      EXPECT_NE(text.find(std::string(name_of(target))), std::string::npos) << text;
  }
  EXPECT_EQ(simd_target(), before);
}

TEST(Dispatch, KnownNameOfAnotherMachineSaysSo) {
  const auto& targets = simd_targets();
  const bool neon = std::find(targets.begin(), targets.end(), SimdTarget::neon) != targets.end();
  try {
    set_simd_target(neon ? "avx2" : "neon");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("this machine cannot run"), std::string::npos) << error.what();
  }
}

TEST(KernelTable, GetsTheEntryOfTheTarget) {
  const KernelTable<int (*)()> table = {+[] { return 512; }, +[] { return 2; }, +[] { return 128; }, +[] { return 1; }};
  EXPECT_EQ(table.get(SimdTarget::avx512)(), 512);
  EXPECT_EQ(table.get(SimdTarget::avx2)(), 2);
  EXPECT_EQ(table.get(SimdTarget::neon)(), 128);
  EXPECT_EQ(table.get(SimdTarget::scalar)(), 1);
}

}  // namespace
}  // namespace retrace
