// What a session needs at its end is there at its beginning, or it is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "services/base/process/surroundings.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

using testing::HasSubstr;

uint64_t OpenDescriptors() {
  uint64_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count - 1;
}

// Of this process, as long as it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(uint64_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{.rlim_cur = most, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(DescriptorsTest, ASessionThatMayNotEndWellDoesNotBegin) {
  NodeFixture node("posix");
  const std::string before = node.RecordAndSeal(5);
  {
    const DescriptorLimit few(OpenDescriptors() + 12);
    const absl::Status refused = node.Record().status();
    EXPECT_EQ(Reason(refused), "LIMIT_REACHED") << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("RLIMIT_NOFILE"));
    EXPECT_EQ(Reason(node.Play(before).status()), "LIMIT_REACHED");
  }
  EXPECT_EQ(node.PlayAll(node.RecordAndSeal(5)).size(), 5u);
}

TEST(DescriptorsTest, TheLimitIsRaisedAsFarAsItMay) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const DescriptorLimit few(OpenDescriptors() + 100);
  services::RaiseDescriptorLimit();
  rlimit raised{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, before.rlim_max);
}

}  // namespace
}  // namespace tapedeck::storage_node
