#include "services/copy/repair.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/checkpoint_file.h"
#include "services/copy/copy.h"
#include "services/copy/finish_copy.h"
#include "services/copy/repair_drafts.h"
#include "services/rpc/storage_session/joined_player.h"

namespace tapedeck::services::copying {

using storage_session::JoinedPlayer;
using storage_session::PeerPart;

namespace {

constexpr char kDrafts[] = "repairs";  // folders of places
constexpr char kParts[] = "copies";

class Repairer {
 public:
  explicit Repairer(const RepairRequest& request) : request_(request) {}

  absl::StatusOr<Repaired> Run();

 private:
  // What a copy is made of.
  struct Source {
    Recording recording;
    storage_session::Peer from;
    std::function<absl::StatusOr<NextBlock>(uint64_t first)> play;  // null: `from` plays it
  };

  absl::Status Find();
  absl::Status CheckMirror() const;
  absl::Status Read();
  absl::Status ReadOne(size_t number, PartState* state);
  void Judge(size_t number);
  bool IsClosed(size_t number) const {
    const auto& recording = states_[number].recording;
    return recording.has_value() && recording->state != RecordingState::kRecording;
  }
  absl::Status MakeWhole(size_t number);
  absl::Status FinishPart(size_t number);
  model::Part PartAt(size_t number) const;
  // Of all that there is, as the part to be repaired describes it.
  absl::StatusOr<Source> Joined(size_t number) const;
  // Of a repair that was broken off: one that has all that there is; none.
  const Recording* WholeDraft(size_t number) const;
  absl::StatusOr<Recording> MakeDraft(size_t number);
  absl::Status WritePart(size_t number, Source source);
  absl::StatusOr<std::string> CopyTo(size_t number, const Source& source, const char* folder,
                                     const std::string& step);

  const RepairRequest& request_;
  std::array<PartState, 2> states_;
  std::array<std::vector<PartState>, 2> drafts_;
  BlockSet all_;  // blocks that are whole in a part or draft
  Repaired result_;
};

absl::Status Repairer::Find() {
  for (size_t i = 0; i < 2; ++i) {
    const PartNode& node = request_.nodes[i];
    auto found = FindPart(node, request_.name);
    if (!found.ok()) return dataplane::Prefixed(node.peer.address + ": ", found.status());
    states_[i] = *std::move(found);
    result_.parts[i].node = node.peer.address;
  }
  return CheckMirror();
}

absl::Status Repairer::CheckMirror() const {
  const auto& [one, other] = states_;
  if (!one.recording.has_value() && !other.recording.has_value()) {
    return RecordingNotFound(request_.name,
                             absl::StrCat(request_.name, ": neither node has a part"));
  }
  const auto refused = [this](absl::string_view why) {
    return ArgumentInvalid("recording", absl::StrCat(request_.name, why));
  };
  const model::Part& part = one.recording.has_value() ? one.part : other.part;
  if (part.parts != 2 || part.copies != 2) {
    return refused(absl::StrCat(" has ", part.parts, " parts and ", part.copies,
                                " copies of each block: repair needs two nodes that each have all "
                                "blocks (tapectl record --copies 2 over two nodes)"));
  }
  if (one.recording.has_value() && other.recording.has_value() &&
      (one.part.whole != other.part.whole || one.part.number == other.part.number)) {
    return refused(" is not the same recording on both nodes");
  }
  if (!request_.name.ends_with(absl::StrCat("/", part.whole))) {
    return refused(absl::StrCat(" is a copy of a part of recording ", part.whole));
  }
  return absl::OkStatus();
}

absl::Status Repairer::ReadOne(size_t number, PartState* state) {
  const uint64_t bytes_of_all = std::max<uint64_t>(state->recording->bytes, 1);
  const absl::Status read = ReadPart(
      request_.nodes[number], request_.timeout,
      [&](uint64_t bytes) { return request_.progress("verify", bytes, bytes_of_all); }, state);
  all_.Add(state->whole);
  return read.ok() ? read : dataplane::Prefixed(result_.parts[number].node + ": ", read);
}

// Drafts, too: where their part is gone already nobody else may have all of it.
absl::Status Repairer::Read() {
  for (size_t i = 0; i < 2; ++i) {
    if (IsClosed(i)) TD_RETURN_IF_ERROR(ReadOne(i, &states_[i]));
    TD_ASSIGN_OR_RETURN(
        const std::vector<Recording> drafts,
        FinishedDrafts(request_.nodes[i], ChannelOf(request_.name), PartAt(i).whole));
    for (const Recording& draft : drafts) {
      drafts_[i].push_back({.recording = draft});
      TD_RETURN_IF_ERROR(ReadOne(i, &drafts_[i].back()));
    }
  }
  result_.blocks = all_.end();
  return absl::OkStatus();
}

void Repairer::Judge(size_t number) {
  const PartState& state = states_[number];
  RepairedPart& part = result_.parts[number];
  part.lacking = all_.Without(state.whole).Without(state.damaged);
  if (!IsClosed(number)) {
    part.finding = PartFinding::kAbsent;
    return;
  }
  // A place of its own that is empty, though the block has come to another one since.
  part.lacking.Add(state.missing.Without(state.missing.Without(all_)));
  part.damaged = state.damaged;
  if (part.damaged.size() + part.lacking.size() > 0) part.finding = PartFinding::kDamaged;
  const BlockSet lost = state.damaged.Without(all_);
  result_.lost.Add(lost);
  if (lost.size() > 0 && !request_.leave_gaps) {
    part.why_not =
        absl::StrCat("no part has ", lost.size(),
                     " of its damaged blocks whole, and a repair would drop their intact bytes");
  }
}

model::Part Repairer::PartAt(size_t number) const {
  if (states_[number].recording.has_value()) return states_[number].part;
  model::Part part = states_[1 - number].part;
  part.number = 3 - part.number;
  return part;
}

absl::StatusOr<Repairer::Source> Repairer::Joined(size_t number) const {
  auto parts = std::make_shared<std::vector<PeerPart>>();
  // By the first of them it is found again what a repair has begun: the other part stays.
  for (const size_t i : {1 - number, number}) {
    if (IsClosed(i)) parts->push_back({request_.nodes[i].peer, *states_[i].recording});
    for (const PartState& draft : drafts_[i]) {
      parts->push_back({request_.nodes[i].peer, *draft.recording});
    }
  }
  if (all_.size() == 0) {
    return RecordingNotFound(request_.name,
                             absl::StrCat(request_.name, ": no part has any block whole"));
  }
  const Recording& described =
      IsClosed(number) ? *states_[number].recording : parts->front().recording;
  Source source;
  TD_ASSIGN_OR_RETURN(source.recording, JoinedPlayer::Whole(*parts));
  source.recording.labels = described.labels;
  source.recording.description = described.description;
  source.recording.annotations = described.annotations;
  source.recording.kept = described.kept;
  source.recording.uid = parts->front().recording.uid;
  source.recording.missing_blocks = all_.end() - all_.size();
  // Whole looks at the last blocks alone, which may all be damaged.
  if (source.recording.blocks != all_.end()) {
    source.recording.blocks = all_.end();
    source.recording.bytes = all_.end() * source.recording.block_bytes;
  }
  source.play = [parts](uint64_t first) { return BlocksOf(JoinedPlayer::Begin(*parts, first)); };
  return source;
}

absl::StatusOr<std::string> Repairer::CopyTo(size_t number, const Source& source,
                                             const char* folder, const std::string& step) {
  const PartNode& node = request_.nodes[number];
  const std::string channel = ChannelOf(request_.name);
  CopyRequest request{.from = source.from,
                      .to = node.peer,
                      .source = source.recording,
                      .play = source.play,
                      .bytes_per_s = request_.bytes_per_s};
  TD_ASSIGN_OR_RETURN(request.channel, node.catalog->GetChannel(channel));
  const CheckpointFile checkpoint(
      request_.state.empty() ? "" : absl::StrCat(request_.state, "/", folder), request);
  request.checkpoint = checkpoint.Read();
  request.begun = [&](const Checkpoint& begun) { return checkpoint.Write(begun); };
  request.progress = [&](uint64_t bytes) {
    return request_.progress(step, bytes, source.recording.bytes);
  };
  TD_ASSIGN_OR_RETURN(const Copied copied, Copy(request));
  checkpoint.Remove();
  TD_RETURN_IF_ERROR(CopyNotes(*node.catalog, *node.recorder, source.recording, copied.recording,
                               [&] { return request.progress(source.recording.bytes); }));
  TD_RETURN_IF_ERROR(
      CheckCopy(*node.catalog, source.recording, copied.recording, request_.timeout));
  TD_RETURN_IF_ERROR(RemoveUnfinished(*node.catalog, source.recording, channel));
  return copied.recording;
}

const Recording* Repairer::WholeDraft(size_t number) const {
  for (const PartState& draft : drafts_[number]) {
    if (all_.Without(draft.whole).size() == 0) return &*draft.recording;
  }
  return nullptr;
}

absl::StatusOr<Recording> Repairer::MakeDraft(size_t number) {
  TD_ASSIGN_OR_RETURN(Source joined, Joined(number));
  joined.recording.origin.repairs = PartAt(number).whole;
  TD_ASSIGN_OR_RETURN(const std::string name, CopyTo(number, joined, kDrafts, "copy"));
  return request_.nodes[number].catalog->GetRecording(name);
}

// Under the name that it has on the other node.
absl::Status Repairer::WritePart(size_t number, Source source) {
  source.recording.origin.repairs.clear();
  source.recording.part = PartAt(number);
  TD_ASSIGN_OR_RETURN(const std::string name, CopyTo(number, source, kParts, "write"));
  if (name == request_.name) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the part of ", request_.name, " was written as ", name));
}

// The damaged part goes only when there is a copy of all on the same node that was read back.
absl::Status Repairer::MakeWhole(size_t number) {
  const PartNode& node = request_.nodes[number];
  const Recording* const whole = WholeDraft(number);
  if (whole == nullptr && !IsClosed(number)) {
    TD_ASSIGN_OR_RETURN(Source joined, Joined(number));
    return WritePart(number, std::move(joined));
  }
  Recording draft;
  if (whole != nullptr) {
    draft = *whole;
  } else {
    TD_ASSIGN_OR_RETURN(draft, MakeDraft(number));
  }
  if (IsClosed(number)) {
    // Another repair may have used it, and deleted it then.
    TD_RETURN_IF_ERROR(node.catalog->GetRecording(draft.name).status());
    TD_RETURN_IF_ERROR(DeleteOnly(node, *states_[number].recording));
  }
  return WritePart(number, {.recording = draft, .from = node.peer});
}

// Drafts go when the part has all that they have.
absl::Status Repairer::FinishPart(size_t number) {
  RepairedPart& part = result_.parts[number];
  const PartNode& node = request_.nodes[number];
  if (!part.why_not.empty()) return absl::OkStatus();
  if (part.finding != PartFinding::kWhole) {
    TD_RETURN_IF_ERROR(MakeWhole(number));
    part.repaired = true;
    dataplane::Log(dataplane::LogLevel::kInfo, "repair", "made whole",
                   {{"recording", request_.name}, {"node", part.node}});
    // The other one is joined with what is there now.
    TD_ASSIGN_OR_RETURN(states_[number].recording, node.catalog->GetRecording(request_.name));
  }
  drafts_[number].clear();
  return RemoveDrafts(node, ChannelOf(request_.name), PartAt(number).whole);
}

absl::StatusOr<Repaired> Repairer::Run() {
  result_.recording = request_.name;
  TD_RETURN_IF_ERROR(Find());
  TD_RETURN_IF_ERROR(Read());
  for (size_t i = 0; i < 2; ++i) Judge(i);
  for (size_t i = 0; i < 2 && !request_.only_look; ++i) {
    const absl::Status made = FinishPart(i);
    if (!made.ok()) return dataplane::Prefixed(result_.parts[i].node + ": ", made);
  }
  return result_;
}

}  // namespace

absl::StatusOr<Repaired> Repair(const RepairRequest& request) { return Repairer(request).Run(); }

}  // namespace tapedeck::services::copying
