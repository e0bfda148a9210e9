#include "tests/services/fake_catalog.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services {
namespace {

template <typename Value>
absl::StatusOr<Value> Find(const std::map<std::string, Value>& map, const std::string& name,
                           absl::string_view noun, absl::string_view reason) {
  const auto found = map.find(name);
  if (found != map.end()) return found->second;
  return WithReason(absl::NotFoundError(absl::StrCat("no ", noun, " ", name)), reason,
                    {{std::string(noun), name}});
}

template <typename Value>
std::vector<Value> Under(const std::map<std::string, Value>& map, const std::string& parent) {
  std::vector<Value> out;
  for (const auto& [name, value] : map) {
    if (absl::StrContains(parent, "-") || absl::StartsWith(name, parent + "/")) {
      out.push_back(value);
    }
  }
  return out;
}

}  // namespace

void FakeCatalog::AddRecording(const std::string& id, int64_t open_time_ns,
                               std::vector<Annotation> annotations) {
  absl::MutexLock lock(&mutex_);
  const std::string name = "luns/l0/channels/c0/recordings/" + id;
  recordings_[name] = Recording{.name = name,
                                .state = RecordingState::kSealed,
                                .blocks = 4,
                                .bytes = 4 << 20,
                                .durable_watermark = 4,
                                .block_bytes = 1 << 20,
                                .datatype = "cf32_le",
                                .open_time_ns = open_time_ns,
                                .start_time_ns = open_time_ns,
                                .close_time_ns = open_time_ns + 1,
                                .annotations = std::move(annotations)};
}

void FakeCatalog::PutRecording(const Recording& recording) {
  absl::MutexLock lock(&mutex_);
  recordings_[recording.name] = recording;
}

void FakeCatalog::AddSegment(const std::string& stream, uint64_t number, RecordingState state) {
  const std::string id = number == 0 ? stream : absl::StrCat(stream, "-", number);
  AddRecording(id, 1 + static_cast<int64_t>(number));
  absl::MutexLock lock(&mutex_);
  Recording& segment = recordings_["luns/l0/channels/c0/recordings/" + id];
  segment.stream = stream;
  segment.segment = number;
  segment.state = state;
}

void FakeCatalog::SetDamage(std::vector<DamagedBlock> damage) {
  absl::MutexLock lock(&mutex_);
  damage_ = std::move(damage);
}

absl::StatusOr<Lun> FakeCatalog::CreateLun(const Lun& lun, const std::string& request_id) {
  absl::MutexLock lock(&mutex_);
  last_request_id_ = request_id;
  if (!luns_.emplace(lun.name, lun).second) {
    return WithReason(absl::AlreadyExistsError(absl::StrCat(lun.name, " exists")), "LUN_EXISTS",
                      {{"lun", lun.name}});
  }
  return lun;
}

absl::StatusOr<Lun> FakeCatalog::GetLun(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  return Find(luns_, name, "lun", "LUN_NOT_FOUND");
}

int FakeCatalog::lists() const {
  absl::MutexLock lock(&mutex_);
  return lists_;
}

absl::StatusOr<std::vector<Lun>> FakeCatalog::ListLuns() {
  absl::MutexLock lock(&mutex_);
  ++lists_;
  std::vector<Lun> out;
  for (const auto& [name, lun] : luns_) out.push_back(lun);
  return out;
}

absl::StatusOr<Lun> FakeCatalog::UpdateLun(const LunUpdate& update, const std::string& request_id) {
  absl::MutexLock lock(&mutex_);
  last_request_id_ = request_id;
  const auto lun = Find(luns_, update.name, "lun", "LUN_NOT_FOUND");
  if (lun.ok()) luns_[update.name] = Updated(*lun, update);
  return lun.ok() ? luns_[update.name] : lun;
}

absl::Status FakeCatalog::DeleteLun(const std::string& name, bool force) {
  absl::MutexLock lock(&mutex_);
  if (const auto lun = Find(luns_, name, "lun", "LUN_NOT_FOUND"); !lun.ok()) return lun.status();
  if (!force && !Under(recordings_, name).empty()) {
    return WithReason(absl::FailedPreconditionError(name + " holds recordings"), "LUN_NOT_EMPTY",
                      {{"lun", name}, {"recordings", "1"}});
  }
  luns_.erase(name);
  return absl::OkStatus();
}

absl::StatusOr<Lun> FakeCatalog::AttachLun(const LunAttachment& asked,
                                           const std::string& request_id) {
  return CreateLun({.name = asked.name.empty() ? "luns/found" : asked.name,
                    .uid = asked.as_new ? "new" : "old",
                    .members = asked.members},
                   request_id);
}

absl::Status FakeCatalog::DetachLun(const std::string& name) {
  return DeleteLun(name, /*force=*/true);
}

absl::StatusOr<Channel> FakeCatalog::CreateChannel(const Channel& channel,
                                                   const std::string& request_id) {
  absl::MutexLock lock(&mutex_);
  last_request_id_ = request_id;
  if (const absl::Status checked = model::CheckChannel(channel); !checked.ok()) return checked;
  channels_[channel.name] = channel;
  return channel;
}

absl::StatusOr<Channel> FakeCatalog::GetChannel(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  return Find(channels_, name, "channel", "CHANNEL_NOT_FOUND");
}

absl::StatusOr<std::vector<Channel>> FakeCatalog::ListChannels(const std::string& parent) {
  absl::MutexLock lock(&mutex_);
  ++lists_;
  return Under(channels_, parent);
}

absl::StatusOr<Channel> FakeCatalog::UpdateChannel(const ChannelUpdate& update,
                                                   const std::string& request_id) {
  absl::MutexLock lock(&mutex_);
  last_request_id_ = request_id;
  const auto channel = Find(channels_, update.name, "channel", "CHANNEL_NOT_FOUND");
  if (channel.ok()) channels_[update.name] = Updated(*channel, update);
  return channel.ok() ? channels_[update.name] : channel;
}

absl::Status FakeCatalog::DeleteChannel(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  if (channels_.erase(name) == 1) return absl::OkStatus();
  return Find(channels_, name, "channel", "CHANNEL_NOT_FOUND").status();
}

absl::StatusOr<Recording> FakeCatalog::GetRecording(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  return Find(recordings_, name, "recording", "RECORDING_NOT_FOUND");
}

absl::StatusOr<Recording> FakeCatalog::UpdateRecording(const RecordingUpdate& update) {
  absl::MutexLock lock(&mutex_);
  const auto recording = Find(recordings_, update.name, "recording", "RECORDING_NOT_FOUND");
  if (recording.ok()) recordings_[update.name] = Updated(*recording, update);
  return recording.ok() ? recordings_[update.name] : recording;
}

absl::StatusOr<std::vector<Recording>> FakeCatalog::RecordingsAfter(const std::string& parent,
                                                                    const RecordingKey& after,
                                                                    size_t most) {
  absl::MutexLock lock(&mutex_);
  std::vector<Recording> found = Under(recordings_, parent);
  const auto place = [](const auto& key) { return std::pair(-key.open_time_ns, key.name); };
  std::ranges::sort(found, {}, place);
  std::erase_if(found, [&](const Recording& one) { return place(one) <= place(after); });
  if (found.size() > most) found.resize(most);
  return found;
}

absl::Status FakeCatalog::DeleteRecording(const std::string& name, const std::string& etag) {
  absl::MutexLock lock(&mutex_);
  const auto found = Find(recordings_, name, "recording", "RECORDING_NOT_FOUND");
  if (found.ok() && found->state == RecordingState::kRecording) {
    return WithReason(absl::FailedPreconditionError(name + " is being written"), "RECORDING_BUSY",
                      {{"recording", name}});
  }
  if (found.ok() && !etag.empty() && found->etag != etag) {
    return WithReason(absl::FailedPreconditionError(name + " has changed"), "RECORDING_BUSY",
                      {{"recording", name}});
  }
  recordings_.erase(name);
  return found.status();
}

absl::Status FakeCatalog::VerifyRecording(
    const std::string& name, const std::function<bool(const VerifyProgress&)>& report) {
  const auto recording = GetRecording(name);
  if (!recording.ok()) return recording.status();
  std::vector<DamagedBlock> damage;
  {
    absl::MutexLock lock(&mutex_);
    ++verifying_;
    const auto free = [this] { return !hold_verifications_; };
    mutex_.Await(absl::Condition(&free));
    --verifying_;
    damage = damage_;
  }
  const uint64_t blocks = recording->blocks;
  for (uint64_t i = 1; i <= blocks; ++i) {
    VerifyProgress progress{.checked_blocks = i, .blocks = blocks};
    if (i == blocks) progress.damaged = damage;
    if (!report(progress)) return absl::CancelledError("stopped");
  }
  return absl::OkStatus();
}

void FakeCatalog::HoldVerifications(bool hold) {
  absl::MutexLock lock(&mutex_);
  hold_verifications_ = hold;
}

int FakeCatalog::verifying() const {
  absl::MutexLock lock(&mutex_);
  return verifying_;
}

std::string FakeCatalog::last_request_id() const {
  absl::MutexLock lock(&mutex_);
  return last_request_id_;
}

}  // namespace tapedeck::services
