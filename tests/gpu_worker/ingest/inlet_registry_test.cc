#include "gpu_worker/inlets/inlet_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "dataplane/executor/event_loop.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::inlets {
namespace {

using services::session::Admission;
using services::session::Direction;
using services::session::Open;

class InletRegistryTest : public testing::Test {
 protected:
  static services::Inlet Named(const std::string& id) {
    return {.name = absl::StrCat("inlets/", id), .datatype = "cf32_le", .block_bytes = 65536};
  }

  // Of a job that takes whatever comes; `made_` counts.
  MakeAdmission Taking() {
    return [this](const Open&) -> absl::StatusOr<Admission> {
      ++made_;
      Admission admission;
      admission.accept.recording = "taken";
      return admission;
    };
  }

  // What a session that asks so is answered.
  absl::Status Ask(const Open& open) {
    absl::Notification answered;
    absl::Status status;
    loop_->Post([&] {
      registry_->Admit(open, *loop_, std::make_shared<services::session::AdmissionWatch>(),
                       [&](const absl::StatusOr<Admission>& admission) {
                         status = admission.status();
                         answered.Notify();
                       });
    });
    answered.WaitForNotification();
    return status;
  }
  absl::Status AskFor(const std::string& name) { return Ask({.channel = name}); }

  static std::string ReasonOf(const absl::Status& status) {
    const auto reason = services::ReasonOf(status);
    return reason.has_value() ? reason->reason : "";
  }

  const std::unique_ptr<dataplane::EventLoop> loop_ =
      dataplane::EventLoop::Create("session").value();
  const std::unique_ptr<InletRegistry> registry_ = InletRegistry::Create().value();
  std::atomic<int> made_ = 0;
};

TEST_F(InletRegistryTest, OneStreamComesThroughAnInlet) {
  ASSERT_TRUE(registry_->Open(Named("a"), Taking()).ok());
  EXPECT_EQ(registry_->Get("inlets/a")->block_bytes, 65536u);
  EXPECT_TRUE(AskFor("inlets/a").ok());
  const absl::Status second = AskFor("inlets/a");
  EXPECT_EQ(ReasonOf(second), "INLET_BUSY") << second;
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(made_, 1);
}

TEST_F(InletRegistryTest, NobodyComesThroughWhatIsNotOpen) {
  EXPECT_EQ(ReasonOf(AskFor("inlets/a")), "INLET_NOT_FOUND");
  EXPECT_EQ(ReasonOf(AskFor("luns/l/channels/c")), "INLET_NOT_FOUND");
  ASSERT_TRUE(registry_->Open(Named("a"), Taking()).ok());
  registry_->Close("inlets/a");
  registry_->Close("inlets/a");
  EXPECT_EQ(ReasonOf(AskFor("inlets/a")), "INLET_NOT_FOUND");
  EXPECT_EQ(ReasonOf(registry_->Get("inlets/a").status()), "INLET_NOT_FOUND");
  EXPECT_EQ(made_, 0);
}

TEST_F(InletRegistryTest, ANameIsOpenOnce) {
  ASSERT_TRUE(registry_->Open(Named("a"), Taking()).ok());
  const absl::Status again = registry_->Open(Named("a"), Taking());
  EXPECT_EQ(ReasonOf(again), "INLET_BUSY") << again;
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(InletRegistryTest, ThereAreNoMoreThanTheLimit) {
  for (size_t i = 0; i < kMaxInlets; ++i) {
    ASSERT_TRUE(registry_->Open(Named(absl::StrCat("i", i)), Taking()).ok());
  }
  EXPECT_EQ(ReasonOf(registry_->Open(Named("more"), Taking())), "LIMIT_REACHED");
}

// What cannot be is refused before the job hears of it, which goes on waiting.
TEST_F(InletRegistryTest, AStreamThatCannotBeTakesNothing) {
  ASSERT_TRUE(registry_->Open(Named("a"), Taking()).ok());
  EXPECT_EQ(ReasonOf(Ask({.direction = Direction::kPlayback, .recording = "inlets/a"})),
            "RECORDING_NOT_FOUND");
  EXPECT_EQ(ReasonOf(Ask({.channel = "inlets/a", .slot_bytes = 4096})), "BLOCK_SIZE_INVALID");
  EXPECT_EQ(made_, 0);
  EXPECT_TRUE(Ask({.channel = "inlets/a", .slot_bytes = 65536}).ok());
}

TEST_F(InletRegistryTest, AJobThatCannotTakeItSaysWhy) {
  ASSERT_TRUE(
      registry_->Open(Named("a"), [](const Open&) { return absl::NotFoundError("no such folder"); })
          .ok());
  EXPECT_EQ(AskFor("inlets/a").message(), "no such folder");
}

}  // namespace
}  // namespace tapedeck::gpu_worker::inlets
