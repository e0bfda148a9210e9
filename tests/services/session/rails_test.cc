#include "services/session/transfer/rails.h"

#include <gtest/gtest.h>

#include "dataplane/memory/host/memory.h"
#include "services/base/errors.h"
#include "tests/dataplane/ladder/limited_rail.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::services::session {
namespace {

using dataplane::RemoteAccess;
using dataplane::ladder::LimitedRails;
using dataplane::ladder::Registration;

constexpr size_t kWindowBytes = 1 << 20;

class NoEvents final : public RailsEvents {
 public:
  void OnRailOffer(const RailOffer&) override {}
  void OnRailsUp() override {}
  void OnRailsFailed(const absl::Status&) override {}
  void OnRailsClosed() override {}
};

// The end that answers: it registers, and waits for offers.
class RegistrationTest : public testing::Test {
 protected:
  Registration Register(RemoteAccess access) {
    Registration registration{.access = access};
    for (dataplane::Transport* rail : rails_.transports()) {
      registration.domains.push_back(rail->OpenDomain(memory_->window(), access).value());
    }
    return registration;
  }

  // How often each rail has been asked to register, after a start that needs kRead.
  int DomainsAfterStart(Registration registration) {
    loop_->RunAndWait([&] {
      Rails rails(*loop_, RailsSettings{.access = RemoteAccess::kRead, .trace = &trace_},
                  rails_.transports(), nullptr, &events_);
      EXPECT_TRUE(rails.Start(memory_->window(), std::move(registration)).ok());
      EXPECT_EQ(rails_.locked.used, 2 * kWindowBytes) << "once for each rail";
    });
    EXPECT_EQ(rails_.locked.used, 0u);
    EXPECT_EQ(rails_.rails[0]->domains, rails_.rails[1]->domains);
    return rails_.rails[0]->domains;
  }

  const std::unique_ptr<dataplane::EventLoop> loop_ =
      dataplane::EventLoop::Create("session").value();
  const std::unique_ptr<dataplane::Memory> memory_ = dataplane::host::Create(kWindowBytes).value();
  LimitedRails rails_{2};
  NoEvents events_;
  SessionTrace trace_;
};

// An answering end whose peer offers what it likes.
class OfferTest : public testing::Test, public RailsEvents, public dataplane::LinkEvents {
 protected:
  void OnRailOffer(const RailOffer&) override {}
  void OnRailsUp() override {}
  void OnRailsFailed(const absl::Status& cause) override { failed_ = cause; }
  void OnRailsClosed() override { closed_ = true; }
  void OnLinkUp(dataplane::Link&) override {}
  void OnLinkDown(dataplane::Link&, const absl::Status&) override {}
  void OnLinkFrame(dataplane::Link&, const dataplane::Frame&, std::span<std::byte>) override {}
  void OnLinkCompleted(dataplane::Link&, uint64_t) override {}

  // How many offers are taken, of 100, before the session is told to end.
  int Taken(const std::function<RailOffer(int)>& offer) {
    int taken = 0;
    loop_->RunAndWait([&] {
      Rails rails(*loop_, RailsSettings{.trace = &trace_}, rails_.transports(), this, this);
      EXPECT_TRUE(rails.Start(memory_->window(), {}).ok());
      for (; taken < 100; ++taken) {
        rails.OnPeerOffer(offer(taken));
        if (!failed_.ok()) break;
      }
    });
    return taken;
  }

  const std::unique_ptr<dataplane::EventLoop> loop_ =
      dataplane::EventLoop::Create("session").value();
  const std::unique_ptr<dataplane::Memory> memory_ = dataplane::host::Create(kWindowBytes).value();
  LimitedRails rails_{2};
  SessionTrace trace_;
  absl::Status failed_;
  bool closed_ = false;
};

TEST_F(OfferTest, OneConnectionIsOfferedOnlySoOften) {
  EXPECT_EQ(
      Taken([](int i) { return RailOffer{.rail = "r0", .generation = static_cast<uint32_t>(i)}; }),
      32);
  EXPECT_EQ(ReasonOf(failed_).value_or(ErrorReason{}).reason, "LIMIT_REACHED") << failed_;
}

TEST_F(OfferTest, ASessionHasFewConnections) {
  const std::vector<std::string> names = {"a", "b", "r0", "r1"};
  EXPECT_EQ(Taken([&](int i) {
              return RailOffer{.rail = names[i / 8 % 4],
                               .connection = static_cast<uint32_t>(i % 8)};
            }),
            16);
  EXPECT_EQ(ReasonOf(failed_).value_or(ErrorReason{}).reason, "LIMIT_REACHED") << failed_;
}

// The end that offers, of a node that is alive and answers nothing.
TEST_F(OfferTest, OneThatIsNotAnsweredFailsByName) {
  storage_node::ManualExecutor executor;
  const int64_t began_ns = executor.clock().NowNs();
  Rails rails(executor, RailsSettings{.initiate = true, .trace = &trace_}, rails_.transports(),
              this, this);
  ASSERT_TRUE(rails.Start(memory_->window(), {}).ok());
  ASSERT_TRUE(executor.RunUntil([&] { return !failed_.ok(); }));
  EXPECT_EQ(ReasonOf(failed_).value_or(ErrorReason{}).reason, "RAIL_UNREACHABLE") << failed_;
  const int64_t after_s = (executor.clock().NowNs() - began_ns) / dataplane::kSecondNs;
  EXPECT_EQ(after_s, 12) << failed_;
  rails.Close(absl::OkStatus());
  EXPECT_TRUE(executor.RunUntil([&] { return closed_; }));
}

// Old nodes say nothing of encryption, and so are peers in clear.
TEST_F(OfferTest, APeerThatAloneEncryptsIsRefusedByName) {
  EXPECT_EQ(Taken([](int i) {
              return RailOffer{.rail = "r0",
                               .generation = static_cast<uint32_t>(i),
                               .endpoint = dataplane::TcpEndpoint{.tls = i == 2}};
            }),
            2);
  const ErrorReason reason = ReasonOf(failed_).value_or(ErrorReason{});
  EXPECT_EQ(reason.reason, "RAIL_TLS_MISMATCH") << failed_;
  EXPECT_EQ(reason.metadata.at("rail"), "r0");
}

TEST_F(RegistrationTest, IsMadeIfThereIsNone) { EXPECT_EQ(DomainsAfterStart({}), 1); }

TEST_F(RegistrationTest, IsUsedIfItFits) {
  EXPECT_EQ(DomainsAfterStart(Register(RemoteAccess::kRead)), 1);
}

TEST_F(RegistrationTest, WithOtherRightsGivesWayFirst) {
  rails_.locked.limit = 2 * kWindowBytes;  // both at a time would not fit
  EXPECT_EQ(DomainsAfterStart(Register(RemoteAccess::kWrite)), 2);
}

}  // namespace
}  // namespace tapedeck::services::session
