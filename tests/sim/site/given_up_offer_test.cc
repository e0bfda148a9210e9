// Offers of the inproc transport that have met their peer and are given up before they are told, as
// those of a process that stands still meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "dataplane/transport/inproc/transport.h"
#include "tests/sim/world.h"

namespace tapedeck::sim {
namespace {

using dataplane::kMillisecondNs;
using dataplane::kSecondNs;
using testing::IsEmpty;
using testing::SizeIs;

struct Side final : dataplane::ConnectionEvents {
  Side(World& world, const std::string& name,
       const std::shared_ptr<dataplane::inproc::Fabric>& fabric)
      : executor(world.NewExecutor(name)),
        transport(dataplane::inproc::Create("r0", executor, fabric)),
        domain(*transport->OpenDomain({}, dataplane::RemoteAccess::kNone)),
        offer(*domain->NewOffer(0)) {}

  void OnFrame(const dataplane::Frame& /*frame*/, std::span<std::byte> /*payload*/) override {
    ++frames;
  }
  void OnCompleted(uint64_t /*work*/) override {}
  void OnClosed(const absl::Status& cause) override { closed.push_back(cause); }

  void Connect(const Side& peer, int64_t deadline_ns) {
    offer->Connect(peer.offer->endpoint(), deadline_ns, this,
                   [this](absl::StatusOr<std::unique_ptr<dataplane::Connection>> made) {
                     answers.push_back(made.status());
                     if (made.ok()) connection = *std::move(made);
                   });
  }

  VirtualExecutor& executor;
  const std::unique_ptr<dataplane::Transport> transport;
  const std::unique_ptr<dataplane::Domain> domain;
  std::unique_ptr<dataplane::Offer> offer;
  std::unique_ptr<dataplane::Connection> connection;
  std::vector<absl::Status> answers, closed;
  size_t frames = 0;
};

class GivenUpOfferTest : public testing::Test {
 protected:
  // `still` has offered first and is frozen when the other comes, which has a connection then.
  void MeetOneThatStandsStill(int64_t deadline_ns) {
    still.executor.Post([this, deadline_ns] { still.Connect(other, deadline_ns); });
    RunFor(kMillisecondNs);
    still.executor.Freeze(true);
    other.executor.Post([this] { other.Connect(still, 10 * kSecondNs); });
    RunFor(kMillisecondNs);
    ASSERT_NE(other.connection, nullptr);
    ASSERT_THAT(still.answers, IsEmpty());
    other.connection->Send({}, {}, 1);
  }

  void Thaw() {
    still.executor.Freeze(false);
    RunFor(kSecondNs);
  }

  void RunFor(int64_t time_ns) {
    bool over = false;
    clock.PostAfter(time_ns, [&over] { over = true; });
    ASSERT_TRUE(world.RunUntil([&over] { return over; }, 600 * kSecondNs));
  }

  World world{1};
  VirtualExecutor& clock = world.NewExecutor("clock");
  const std::shared_ptr<dataplane::inproc::Fabric> fabric =
      std::make_shared<dataplane::inproc::Fabric>();
  Side still{world, "still", fabric};
  Side other{world, "other", fabric};
};

TEST_F(GivenUpOfferTest, OneThatIsWithdrawnClosesItsPeersConnection) {
  MeetOneThatStandsStill(10 * kSecondNs);
  still.offer = nullptr;
  Thaw();
  EXPECT_THAT(still.answers, IsEmpty());
  EXPECT_EQ(still.frames, 0u);
  EXPECT_THAT(other.closed, SizeIs(1));
}

TEST_F(GivenUpOfferTest, OneThatIsWithdrawnHearsNothingOfItsPeersEnd) {
  MeetOneThatStandsStill(10 * kSecondNs);
  still.offer = nullptr;
  other.connection = nullptr;
  Thaw();
  EXPECT_THAT(still.closed, IsEmpty());
  EXPECT_EQ(still.frames, 0u);
}

// Its deadline passes while it stands still, and is what it hears of first.
TEST_F(GivenUpOfferTest, OneThatIsTooLateClosesItsPeersConnection) {
  still.executor.Post([this] { still.Connect(other, 2 * kMillisecondNs); });
  RunFor(kMillisecondNs);
  still.executor.Freeze(true);
  RunFor(10 * kMillisecondNs);
  other.executor.Post([this] { other.Connect(still, 10 * kSecondNs); });
  RunFor(kMillisecondNs);
  ASSERT_NE(other.connection, nullptr);
  other.connection->Send({}, {}, 1);
  Thaw();
  ASSERT_THAT(still.answers, SizeIs(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(still.answers[0])) << still.answers[0];
  EXPECT_EQ(still.connection, nullptr);
  EXPECT_THAT(other.closed, SizeIs(1));
  // Nothing of the peer's comes to who was told that there is no connection.
  EXPECT_EQ(still.frames, 0u);
  EXPECT_THAT(still.closed, IsEmpty());
}

}  // namespace
}  // namespace tapedeck::sim
