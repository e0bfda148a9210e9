// What a peer says of memory that it shares, when that is another thing than it says.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "dataplane/memory/host/memory.h"

namespace tapedeck::dataplane::host {
namespace {

using testing::HasSubstr;

constexpr size_t kShared = 1 << 20;
constexpr int kUsualSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr int kSealExec = 0x20;  // F_SEAL_EXEC, of Linux 6.3

// A memfd with the name that its share tells.
struct Offered {
  explicit Offered(int seals, off_t bytes = kShared) {
    share.name.fill(7);
    const std::string hex = absl::BytesToHexString(
        absl::string_view(reinterpret_cast<const char*>(share.name.data()), share.name.size()));
    fd = Fd(memfd_create(absl::StrCat("tapedeck-", hex).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(ftruncate(fd.get(), bytes), 0);
    EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    share.fd = fd.get();
  }

  Fd fd;
  MemoryShare share{.kind = MemoryShare::Kind::kMemfd, .bytes = kShared, .pid = getpid()};
};

std::string WhyNot(const MemoryShare& share) {
  const absl::Status status = OpenShared(share).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  return std::string(status.message());
}

TEST(SharedTest, WhatMayShrinkIsRefused) {
  EXPECT_THAT(WhyNot(Offered(0).share), HasSubstr("may shrink"));
  EXPECT_THAT(WhyNot(Offered(F_SEAL_GROW | F_SEAL_SEAL).share), HasSubstr("may shrink"));
  const Offered sealed(F_SEAL_SHRINK);
  EXPECT_TRUE(OpenShared(sealed.share).ok());
  EXPECT_NE(ftruncate(sealed.fd.get(), 0), 0) << "it is what the seal is for";
}

TEST(SharedTest, WhatCannotBeWrittenIsRefused) {
  EXPECT_THAT(WhyNot(Offered(kUsualSeals | F_SEAL_WRITE).share), HasSubstr("against writing"));
  EXPECT_THAT(WhyNot(Offered(kUsualSeals | F_SEAL_FUTURE_WRITE).share),
              HasSubstr("against writing"));
}

TEST(SharedTest, ASealThatTheKernelSetsIsNoHindrance) {
  const Offered offered(F_SEAL_SHRINK | F_SEAL_GROW);
  // As of a memfd that is made where vm.memfd_noexec is set.
  ASSERT_EQ(fchmod(offered.fd.get(), 0600), 0);
  if (fcntl(offered.fd.get(), F_ADD_SEALS, kSealExec) != 0) GTEST_SKIP() << "no F_SEAL_EXEC here";
  EXPECT_TRUE(OpenShared(offered.share).ok());
}

TEST(SharedTest, ASizeIsNotBelieved) {
  Offered offered(kUsualSeals);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{kShared + 1}, UINT64_MAX}) {
    offered.share.bytes = bytes;
    EXPECT_THAT(WhyNot(offered.share), HasSubstr("smaller than announced")) << bytes;
  }
  // It takes no memory, and would take the address space of whoever maps it.
  Offered vast(kUsualSeals, off_t{1} << 46);
  vast.share.bytes = uint64_t{1} << 46;
  EXPECT_THAT(WhyNot(vast.share), HasSubstr("larger than the machine's memory"));
}

TEST(SharedTest, AnotherDescriptorIsNotOpened) {
  const Offered offered(kUsualSeals);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const Fd out(pipe_ends[0]), in(pipe_ends[1]), device(open("/dev/zero", O_RDWR | O_CLOEXEC));
  for (const int fd : {0, out.get(), device.get(), 1'000'000}) {
    MemoryShare share = offered.share;
    share.fd = fd;
    WhyNot(share);
  }
  MemoryShare share = offered.share;
  share.name[3] ^= 1;
  EXPECT_THAT(WhyNot(share), HasSubstr("not the named memory"));
  for (const int pid : {0, -1, 1 << 30}) {
    share.pid = pid;
    WhyNot(share);
  }
}

TEST(SharedTest, AnotherUsersIsRefused) {
  if (getuid() != 0) GTEST_SKIP() << "only root can be another user";
  const Offered offered(kUsualSeals);
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    _exit(absl::IsPermissionDenied(OpenShared(offered.share).status()) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tapedeck::dataplane::host
