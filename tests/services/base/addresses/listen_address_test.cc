#include "services/base/addresses/listen_address.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "dataplane/socket_address.h"

namespace tapedeck::services {
namespace {

// Status of a child that could not have what it asked the system for.
constexpr int kNoSuchSystem = 77;

// A network of this process's own, where the system chooses among two ports.
bool HasTwoPorts() {
  const bool alone = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
  std::ofstream range("/proc/sys/net/ipv4/ip_local_port_range");
  return alone && (range << "40000 40001" << std::flush).good();
}

int PortOf(const absl::StatusOr<dataplane::Fd>& socket) {
  return socket.ok() ? dataplane::LocalAddress(*socket).port() : 0;
}

// 0: the system chose the other port, and had none for a second socket.
int ChooseBesideAReservedPort() {
  if (!HasTwoPorts()) return kNoSuchSystem;
  auto reserved = ReservedPort::Create("0.0.0.0:40000");
  if (!reserved.ok()) return 1;
  const auto first = Listen("0.0.0.0:0");
  const auto second = Listen("0.0.0.0:0");
  if (PortOf(first) != 40001 || second.ok()) return 2;
  return reserved->Listen().ok() ? 0 : 3;
}

TEST(ReservedPortTest, TheSystemChoosesAnotherOne) {
  const pid_t child = fork();
  if (child == 0) _exit(ChooseBesideAReservedPort());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoSuchSystem) GTEST_SKIP() << "no network of its own";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace tapedeck::services
