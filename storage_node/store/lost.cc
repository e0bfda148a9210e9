#include "storage_node/store/lost.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store {

namespace {

absl::Status Vanished(const std::string& member, absl::string_view what, absl::string_view then) {
  return disk::StoreIo(member, "stat", absl::StrCat("member ", member, ": ", what, "; ", then));
}

}  // namespace

absl::Status MemberVanished(const std::string& member, absl::string_view what) {
  return Vanished(member, what,
                  "blocks acknowledged in the last second may be lost with it. Mount it or plug it "
                  "in again, and record again once its LUN is READY");
}

absl::Status RecordingVanished(const std::string& member, absl::string_view what) {
  return Vanished(member, what,
                  "the recording is lost. Find out what removes files there, and record again");
}

void Lost::Set(const absl::Status& why) {
  absl::AnyInvocable<void(absl::Status)> tell;
  {
    absl::MutexLock lock(&mutex_);
    if (set_) return;
    why_ = why;
    set_ = true;
    tell = std::exchange(tell_, nullptr);
  }
  if (tell) tell(why);
}

void Lost::OnSet(absl::AnyInvocable<void(absl::Status)> tell) {
  absl::Status why;
  {
    absl::MutexLock lock(&mutex_);
    if (!set_) {
      tell_ = std::move(tell);
      return;
    }
    why = why_;
  }
  tell(why);
}

absl::Status Lost::status() const {
  if (!set_) return absl::OkStatus();
  absl::MutexLock lock(&mutex_);
  return why_;
}

}  // namespace tapedeck::storage_node::store
