// Faults of a verbs rail that a host can make to itself, each with its reason and in its time.
// Needs the lab's port p0, which belongs to nothing else there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"
#include "dataplane/transport/verbs/transport.h"
#include "tests/conformance/transport_pair.h"
#include "tests/dataplane/transport/verbs/raw_peer.h"

namespace tapedeck::dataplane::verbs {
namespace {

constexpr char kAddress[] = "10.0.0.1";
const TransportKind kVerbs{"verbs", kAddress, Usable, Create};

std::string ReasonIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() ? reason->reason : absl::StrCat("no reason: ", status.ToString());
}

void Shell(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

class VerbsFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/sys/class/net/p0") || !Usable().ok()) {
      GTEST_SKIP() << "needs the lab's RDMA port p0";
    }
  }
  void TearDown() override {
    if (IsSkipped()) return;
    [[maybe_unused]] int status = std::system("ip link set p0 mtu 4200 up");
    status = std::system("ip address replace 10.0.0.1/24 dev p0");
    AwaitOffer();
  }

  void Connect(RemoteAccess access = RemoteAccess::kWrite) {
    node_ = std::make_unique<TransportEnd>(kVerbs, true, access);
    worker_ = std::make_unique<TransportEnd>(kVerbs, false, access);
    auto node_up = node_->Connect(worker_->offer->endpoint());
    auto worker_up = worker_->Connect(node_->offer->endpoint());
    ASSERT_TRUE(worker_up.get().ok());
    ASSERT_TRUE(node_up.get().ok());
  }

  absl::Status NewOffer(TransportEnd& end) {
    absl::Status status;
    end.loop->RunAndWait([&] { status = end.domain->NewOffer(0).status(); });
    return status;
  }

  // Up to 5 s until the port can be used again.
  void AwaitOffer() {
    if (node_ == nullptr) return;
    absl::Status status = absl::UnknownError("");
    for (int i = 0; i < 100 && !status.ok(); ++i) {
      status = NewOffer(*node_);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_TRUE(status.ok()) << status;
  }

  static double SecondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::unique_ptr<TransportEnd> node_;
  std::unique_ptr<TransportEnd> worker_;
};

TEST_F(VerbsFaults, PortDownEndsItsConnectionsAtOnceAndComesBack) {
  Connect();
  Shell("ip link set p0 down");
  // Not PEER_NOT_ANSWERING, which would come half a second later.
  EXPECT_EQ(ReasonIn(node_->events.Closed()), "PORT_DOWN");
  EXPECT_EQ(ReasonIn(worker_->events.Closed()), "PORT_DOWN");
  EXPECT_EQ(ReasonIn(NewOffer(*node_)), "PORT_DOWN");
  Shell("ip link set p0 up");
  AwaitOffer();
  Connect();
}

TEST_F(VerbsFaults, RemovedAddressIsNamed) {
  Connect();
  Shell("ip address del 10.0.0.1/24 dev p0");
  EXPECT_EQ(ReasonIn(node_->events.Closed()), "NO_ROCE_V2_GID");
  const absl::Status status = NewOffer(*node_);
  EXPECT_EQ(ReasonIn(status), "NO_ROCE_V2_GID");
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("no RoCEv2 GID for 10.0.0.1 on rx0 port 1, only "));
  // The index of its GID is another then.
  Shell("ip address add 10.0.7.5/24 dev p0 && ip address add 10.0.0.1/24 dev p0");
  AwaitOffer();
  Connect();
  Shell("ip address del 10.0.7.5/24 dev p0");
  node_->Do([](Connection& c) { c.Send({.type = FrameType::kPing, .slot = 5}, {}, 0); });
  EXPECT_EQ(worker_->events.Frame(0).frame.slot, 5u);
}

TEST_F(VerbsFaults, UnreachablePeerIsNamed) {
  worker_ = std::make_unique<TransportEnd>(kVerbs, false, RemoteAccess::kNone);
  auto peer = std::get<QueuePairEndpoint>(worker_->offer->endpoint());
  peer.gid[15] = 77;
  const absl::Status nobody = worker_->Connect(peer, 8 * kSecondNs).get();
  EXPECT_EQ(ReasonIn(nobody), "RAIL_UNREACHABLE");
  EXPECT_THAT(std::string(nobody.message()),
              testing::AllOf(testing::HasSubstr("rail r0 (10.0.0.1, rx0 port 1) to 10.0.0.77"),
                             testing::HasSubstr("rdma_resolve_addr")));
}

// A process that has died says no farewell.
TEST_F(VerbsFaults, SilentPeerIsGivenUpInHalfASecond) {
  node_ = std::make_unique<TransportEnd>(kVerbs, true, RemoteAccess::kNone);
  auto raw = std::make_unique<RawPeer>(kAddress);
  auto up = node_->Connect(raw->endpoint());
  ASSERT_TRUE(raw->SayHello(std::get<QueuePairEndpoint>(node_->offer->endpoint())));
  ASSERT_TRUE(up.get().ok());
  raw.reset();
  const auto start = std::chrono::steady_clock::now();
  node_->Do([](Connection& c) { c.Send({.type = FrameType::kPing}, {}, 0); });
  EXPECT_EQ(ReasonIn(node_->events.Closed()), "PEER_NOT_ANSWERING");
  EXPECT_GT(SecondsSince(start), 0.4);
  EXPECT_LT(SecondsSince(start), 4);
}

TEST_F(VerbsFaults, NobodyAnswersTheHello) {
  worker_ = std::make_unique<TransportEnd>(kVerbs, false, RemoteAccess::kNone);
  node_ = std::make_unique<TransportEnd>(kVerbs, true, RemoteAccess::kNone);
  const absl::Status status =
      worker_->Connect(node_->offer->endpoint(), 1500 * kMillisecondNs).get();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("no answer for 0.47 s (timeout 14, retry 6)"));
}

// The connecting end may be first by more than its retries last.
TEST_F(VerbsFaults, HelloIsRepeatedUntilThePeerIsReady) {
  worker_ = std::make_unique<TransportEnd>(kVerbs, false, RemoteAccess::kNone);
  node_ = std::make_unique<TransportEnd>(kVerbs, true, RemoteAccess::kNone);
  auto worker_up = worker_->Connect(node_->offer->endpoint(), 10 * kSecondNs);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  auto node_up = node_->Connect(worker_->offer->endpoint(), 10 * kSecondNs);
  EXPECT_TRUE(worker_up.get().ok());
  EXPECT_TRUE(node_up.get().ok());
  worker_->Do([](Connection& c) { c.Send({.type = FrameType::kPing, .slot = 5}, {}, 0); });
  EXPECT_EQ(node_->events.Frame(0).frame.slot, 5u);
}

TEST_F(VerbsFaults, SmallerMtuOfOneEndIsUsedByBoth) {
  node_ = std::make_unique<TransportEnd>(kVerbs, true, RemoteAccess::kWrite);
  Shell("ip link set p0 mtu 1500");
  worker_ = std::make_unique<TransportEnd>(kVerbs, false, RemoteAccess::kWrite);
  EXPECT_EQ(std::get<QueuePairEndpoint>(node_->offer->endpoint()).mtu_bytes, 4096u);
  EXPECT_EQ(std::get<QueuePairEndpoint>(worker_->offer->endpoint()).mtu_bytes, 1024u);
  testing::internal::CaptureStderr();
  auto node_up = node_->Connect(worker_->offer->endpoint());
  auto worker_up = worker_->Connect(node_->offer->endpoint());
  EXPECT_TRUE(worker_up.get().ok());
  EXPECT_TRUE(node_up.get().ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("path MTU 1024 carries 5.6 % less than 4096"));
}

TEST_F(VerbsFaults, AddressOfNoPortIsNamed) {
  const auto loop = *EventLoop::Create("test");
  for (const char* address : {"127.0.0.1", "192.0.2.1"}) {
    const absl::Status status =
        Create({.name = "r0", .kind = "verbs", .address = address}, {loop.get()}).status();
    EXPECT_EQ(ReasonIn(status), "NO_RDMA_DEVICE") << status;
  }
}

// Two ports with a wire between them that loses full packets and carries small ones.
TEST_F(VerbsFaults, PathThatLosesFullPacketsIsNamed) {
  if (std::getenv("LAB") == nullptr) GTEST_SKIP() << "needs the lab's peer port";
  Shell("$LAB/guest.sh add_peer_port 0");
  TransportKind other = kVerbs;
  other.loopback_address = "10.0.0.2";
  node_ = std::make_unique<TransportEnd>(kVerbs, true, RemoteAccess::kNone);
  worker_ = std::make_unique<TransportEnd>(other, false, RemoteAccess::kNone);
  // IPv4 packets of 4096 to 8191 bytes.
  Shell(
      "modprobe -a sch_ingress cls_u32 act_gact && tc qdisc add dev p0 ingress && "
      "tc filter add dev p0 parent ffff: protocol ip u32 match u16 0x1000 0xf000 at 2 action drop");
  auto node_up = node_->Connect(worker_->offer->endpoint());
  const absl::Status status = worker_->Connect(node_->offer->endpoint()).get();
  EXPECT_EQ(ReasonIn(status), "PATH_MTU_MISMATCH") << status;
  Shell("tc qdisc delete dev p0 ingress");
  EXPECT_FALSE(node_up.get().ok());
}

// Root may lock any amount unless it gives up that right.
void DropLockRight() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3};
  __user_cap_data_struct data[2]{};
  ASSERT_EQ(syscall(SYS_capget, &header, data), 0);
  data[0].effective &= ~(1u << CAP_IPC_LOCK);
  data[0].permitted &= ~(1u << CAP_IPC_LOCK);
  ASSERT_EQ(syscall(SYS_capset, &header, data), 0);
}

TEST_F(VerbsFaults, TooLittleLockableMemoryIsNamed) {
  const auto attempt = [] {
    DropLockRight();
    const rlimit limit{.rlim_cur = 65536, .rlim_max = 65536};
    setrlimit(RLIMIT_MEMLOCK, &limit);
    const auto loop = *EventLoop::Create("test");
    const auto memory = *host::Create(4 << 20);
    const auto transport =
        *Create({.name = "r0", .kind = "verbs", .address = kAddress}, {loop.get()});
    const absl::Status status =
        transport->OpenDomain(memory->window(), RemoteAccess::kRead).status();
    std::fprintf(stderr, "%s: %s\n", ReasonIn(status).c_str(), status.ToString().c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(attempt(), testing::ExitedWithCode(0),
              "MEMLOCK_TOO_LOW: .*4194304 bytes must be locked and the limit of locked memory is "
              "65536 bytes; set LimitMEMLOCK=infinity");
}

}  // namespace
}  // namespace tapedeck::dataplane::verbs
