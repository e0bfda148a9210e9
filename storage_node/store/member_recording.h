// What open recordings have in common whose member works for them on threads of its own.
#pragma once

#include <memory>
#include <utility>

#include "storage_node/store/lost.h"
#include "storage_node/store/mailbox.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store {

// Lives on the executor it was opened for. One member: places and copies are always 0. `Stored` is
// what the member has of the recording.
template <typename Stored>
class MemberRecording : public RecordingFiles {
 public:
  // `lost`: set when the member is found to be gone, or another node's.
  MemberRecording(std::shared_ptr<Stored> stored, std::shared_ptr<Lost> lost,
                  dataplane::Executor& executor)
      : stored_(std::move(stored)),
        lost_(std::move(lost)),
        mailbox_(std::make_shared<Mailbox>(executor)) {}
  ~MemberRecording() override { mailbox_->Close(); }

  uint32_t index_copies() const override { return 1; }
  void OnLost(Done lost) override {
    lost_->OnSet([mailbox = mailbox_, lost = std::move(lost)](absl::Status why) mutable {
      mailbox->Post([why = std::move(why), lost = std::move(lost)]() mutable { lost(why); });
    });
  }

 protected:
  // Shared with operations under way.
  const std::shared_ptr<Stored> stored_;
  const std::shared_ptr<Lost> lost_;
  const std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace tapedeck::storage_node::store
