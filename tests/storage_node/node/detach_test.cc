// A LUN is detached while its disk hangs.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

#include "absl/synchronization/notification.h"
#include "storage_node/luns/config_files.h"
#include "tests/storage_node/node_contents.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

struct Hang {
  absl::Notification closing;
  absl::Notification thawed;
  std::thread::id closed_on;
};

// A store that hangs when it is closed.
class HangingStore final : public store::Store {
 public:
  explicit HangingStore(Hang& hang) : hang_(hang) {}
  ~HangingStore() override {
    hang_.closed_on = std::this_thread::get_id();
    hang_.closing.Notify();
    hang_.thawed.WaitForNotification();
  }
  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> Open(const store::RecordingPath&,
                                                              const store::Opening&,
                                                              dataplane::Executor&) override {
    return absl::UnimplementedError("");
  }
  absl::Status DeleteRecording(const store::RecordingPath&) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<store::RecordingPath>> ListRecordings(const store::Known&) override {
    return std::vector<store::RecordingPath>();
  }
  absl::Status Look() override { return absl::OkStatus(); }
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const store::RingSpec&) override {
    return absl::UnimplementedError("");
  }

 private:
  Hang& hang_;
};

class DetachLun : public testing::Test {
 protected:
  DetachLun() {
    const services::Lun config{.name = "luns/l", .store = "posix", .members = {dir_.Make("m")}};
    EXPECT_TRUE(luns::WriteLunFile(dir_.path(), config).ok());
    auto lun = std::make_shared<luns::OpenLun>(
        luns::OpenLun{.config = config, .kind = *store::FindStoreKind("posix")});
    lun->channels = std::make_unique<luns::Channels>(contents_->recordings.catalog());
    lun->store = std::make_unique<HangingStore>(hang_);
    contents_->luns.Insert("l", std::move(lun));
  }

  absl::Status Detach() { return node::LunService(contents_->recordings).DetachLun("luns/l"); }

  TempDir dir_;
  Hang hang_;
  const std::unique_ptr<node::NodeContents> contents_ = MakeNodeContents(dir_.path());
};

TEST_F(DetachLun, ItIsClosedOnAnotherThreadThanTheCalls) {
  std::thread::id caller;
  auto detached = std::async(std::launch::async, [&] {
    caller = std::this_thread::get_id();
    return Detach();
  });
  hang_.closing.WaitForNotification();
  hang_.thawed.Notify();
  EXPECT_TRUE(detached.get().ok());
  EXPECT_NE(hang_.closed_on, caller);
}

TEST_F(DetachLun, ADiskThatHangsIsNotWaitedForForEver) {
  EXPECT_EQ(Reason(Detach()), "LUN_NOT_RESPONDING");
  EXPECT_TRUE(hang_.closing.HasBeenNotified());
  EXPECT_FALSE(contents_->luns.Has("l"));
  hang_.thawed.Notify();
}

// Such as a list of LUNs, which must not wait for its disk.
TEST_F(DetachLun, WhoHasItLastDoesNotCloseIt) {
  hang_.thawed.Notify();
  auto held = *contents_->luns.Find("l");
  contents_->luns.TakeOut("l", held);
  contents_->luns.CloseUnused("l");
  held = nullptr;
  EXPECT_FALSE(hang_.closing.HasBeenNotified());
  contents_->luns.CloseUnused("l");
  EXPECT_TRUE(hang_.closing.HasBeenNotified());
  EXPECT_TRUE(contents_->luns.Closing().empty());
}

}  // namespace
}  // namespace tapedeck::storage_node
