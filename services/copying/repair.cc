#include "services/copying/repair.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/copying/copy.h"
#include "services/copying/drafts.h"
#include "services/copying/place_file.h"
#include "services/copying/settle.h"
#include "services/errors.h"
#include "services/storage_session/joined_player.h"

namespace tapedeck::services::copying {

using storage_session::JoinedPlayer;
using storage_session::PeerPart;

namespace {

constexpr char kDrafts[] = "repairs";  // folders of places
constexpr char kParts[] = "copies";

class Repairer {
 public:
  explicit Repairer(const RepairWish& wish) : wish_(wish) {}

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
  void Judge(size_t number);
  bool IsClosed(size_t number) const {
    const auto& recording = states_[number].recording;
    return recording.has_value() && recording->state != RecordingState::kRecording;
  }
  absl::Status MakeWhole(size_t number);
  absl::Status Settle(size_t number);
  model::Part PartAt(size_t number) const;
  // Of both parts, as the one to be repaired describes it.
  absl::StatusOr<Source> Joined(size_t number) const;
  absl::Status FinishBroken();
  absl::StatusOr<Recording> MakeDraft(size_t number, Source source);
  absl::Status WritePart(size_t number, Source source);
  absl::StatusOr<std::string> CopyTo(size_t number, const Source& source, const char* folder,
                                     const std::string& step);

  const RepairWish& wish_;
  std::array<PartState, 2> states_;
  Repaired result_;
};

absl::Status Repairer::Find() {
  for (size_t i = 0; i < 2; ++i) {
    const PartNode& node = wish_.nodes[i];
    auto found = FindPart(node, wish_.name);
    if (!found.ok()) return dataplane::Prefixed(node.peer.address + ": ", found.status());
    states_[i] = *std::move(found);
    result_.parts[i].node = node.peer.address;
  }
  return CheckMirror();
}

absl::Status Repairer::CheckMirror() const {
  const auto& [one, other] = states_;
  if (!one.recording.has_value() && !other.recording.has_value()) {
    return RecordingNotFound(wish_.name, absl::StrCat(wish_.name, ": neither node has a part"));
  }
  const auto refused = [this](absl::string_view why) {
    return ArgumentInvalid("recording", absl::StrCat(wish_.name, why));
  };
  const model::Part& part = one.recording.has_value() ? one.part : other.part;
  if (part.parts != 2 || part.copies != 2) {
    return refused(absl::StrCat(" has ", part.parts, " parts and ", part.copies,
                                " copies of each block: repair is for two nodes of which each has "
                                "all (record --copies 2 over two nodes)"));
  }
  if (one.recording.has_value() && other.recording.has_value() &&
      (one.part.whole != other.part.whole || one.part.number == other.part.number)) {
    return refused(" is not the same recording on both nodes");
  }
  if (!wish_.name.ends_with(absl::StrCat("/", part.whole))) {
    return refused(absl::StrCat(" is a copy of a part of recording ", part.whole));
  }
  return absl::OkStatus();
}

absl::Status Repairer::Read() {
  for (size_t i = 0; i < 2; ++i) {
    if (!IsClosed(i)) continue;
    const uint64_t all = states_[i].recording->blocks * states_[i].recording->block_bytes;
    const absl::Status read = ReadPart(
        wish_.nodes[i], wish_.timeout,
        [&](uint64_t bytes) { return wish_.progress("verify", bytes, all); }, &states_[i]);
    if (!read.ok()) return dataplane::Prefixed(result_.parts[i].node + ": ", read);
  }
  return absl::OkStatus();
}

void Repairer::Judge(size_t number) {
  const PartState& state = states_[number];
  const PartState& other = states_[1 - number];
  RepairedPart& part = result_.parts[number];
  result_.blocks = std::max(result_.blocks, state.whole.end());
  part.lacking = other.whole.Without(state.whole).Without(state.damaged);
  if (!IsClosed(number)) {
    part.finding = PartFinding::kAbsent;
    return;
  }
  // A place of its own that is empty, though the block has come to another one since.
  for (const auto& [first, end] : state.missing.ranges()) {
    for (uint64_t block = first; block < end; ++block) {
      if (other.whole.Has(block)) part.lacking.Add(block);
    }
  }
  part.damaged = state.damaged;
  if (part.damaged.size() + part.lacking.size() > 0) part.finding = PartFinding::kDamaged;
  const BlockSet lost = state.damaged.Without(state.whole).Without(other.whole);
  for (const auto& [first, end] : lost.ranges()) {
    for (uint64_t block = first; block < end; ++block) result_.lost.Add(block);
  }
  if (lost.size() > 0 && !wish_.leave_gaps) {
    part.why_not = absl::StrCat("no part has ", lost.size(),
                                " of its damaged blocks whole, and what is good of them would go");
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
  BlockSet all = states_[0].whole;
  for (size_t i = 0; i < 2; ++i) {
    if (IsClosed(i)) parts->push_back({wish_.nodes[i].peer, *states_[i].recording});
  }
  const uint64_t more = states_[1].whole.Without(all).size();
  Source source;
  TD_ASSIGN_OR_RETURN(source.recording, JoinedPlayer::Whole(*parts));
  const Recording& described = *states_[IsClosed(number) ? number : 1 - number].recording;
  source.recording.labels = model::WithPartOf({}, described.labels);
  source.recording.description = described.description;
  source.recording.annotations = described.annotations;
  source.recording.kept = described.kept;
  // By which what a repair has begun is found again.
  source.recording.uid = states_[1 - number].recording->uid;
  source.recording.missing_blocks = source.recording.blocks - (all.size() + more);
  source.play = [parts](uint64_t first) -> absl::StatusOr<NextBlock> {
    TD_ASSIGN_OR_RETURN(auto begun, JoinedPlayer::Begin(*parts, first));
    return NextBlock([first, player = std::shared_ptr<JoinedPlayer>(std::move(begun)),
                      parts]() -> absl::StatusOr<std::optional<dataplane::Block>> {
      TD_ASSIGN_OR_RETURN(std::optional<dataplane::Block> block, player->Next());
      if (block.has_value()) block->header().sequence -= first;
      return block;
    });
  };
  return source;
}

absl::StatusOr<std::string> Repairer::CopyTo(size_t number, const Source& source,
                                             const char* folder, const std::string& step) {
  const PartNode& node = wish_.nodes[number];
  const std::string channel = ChannelOf(wish_.name);
  Wish wish{.from = source.from,
            .to = node.peer,
            .source = source.recording,
            .play = source.play,
            .bytes_per_s = wish_.bytes_per_s};
  TD_ASSIGN_OR_RETURN(wish.channel, node.catalog->GetChannel(channel));
  const PlaceFile place(wish_.state.empty() ? "" : absl::StrCat(wish_.state, "/", folder), wish);
  wish.place = place.Read();
  wish.begun = [&](const Place& begun) { return place.Write(begun); };
  wish.progress = [&](uint64_t bytes) {
    return wish_.progress(step, bytes, source.recording.bytes);
  };
  TD_ASSIGN_OR_RETURN(const Copied copied, Copy(wish));
  place.Remove();
  TD_RETURN_IF_ERROR(CopyNotes(*node.catalog, *node.recorder, source.recording, copied.recording));
  TD_RETURN_IF_ERROR(CheckCopy(*node.catalog, source.recording, copied.recording, wish_.timeout));
  TD_RETURN_IF_ERROR(RemoveUnfinished(*node.catalog, source.recording, channel));
  return copied.recording;
}

// Where the part is gone already what stands in for it comes first: nobody else may have all of it.
absl::Status Repairer::FinishBroken() {
  bool finished = false;
  for (size_t i = 0; i < 2; ++i) {
    if (IsClosed(i)) continue;
    const PartNode& node = wish_.nodes[i];
    TD_ASSIGN_OR_RETURN(const std::optional<Recording> draft,
                        FindDraft(node, ChannelOf(wish_.name), PartAt(i).whole));
    if (!draft.has_value()) continue;
    TD_RETURN_IF_ERROR(WritePart(i, {.recording = *draft, .from = node.peer}));
    TD_RETURN_IF_ERROR(DeleteOnly(node, *draft));
    result_.parts[i].repaired = true;
    finished = true;
  }
  return finished ? Find() : absl::OkStatus();
}

// One that is there already, of a repair that was broken off, is as good if it is whole still.
absl::StatusOr<Recording> Repairer::MakeDraft(size_t number, Source source) {
  const PartNode& node = wish_.nodes[number];
  TD_ASSIGN_OR_RETURN(const std::optional<Recording> draft,
                      FindDraft(node, ChannelOf(wish_.name), PartAt(number).whole));
  if (draft.has_value()) {
    Recording as_joined = source.recording;
    as_joined.uid = draft->original_uid;
    const absl::Status whole = CheckCopy(*node.catalog, as_joined, draft->name, wish_.timeout);
    if (whole.ok()) return *draft;
    if (!absl::IsDataLoss(whole)) return whole;
    TD_RETURN_IF_ERROR(DeleteOnly(node, *draft));
  }
  source.recording.labels[std::string(kRepairsLabel)] = PartAt(number).whole;
  TD_ASSIGN_OR_RETURN(const std::string name, CopyTo(number, source, kDrafts, "copy"));
  return node.catalog->GetRecording(name);
}

// Under the name that it has on the other node.
absl::Status Repairer::WritePart(size_t number, Source source) {
  source.recording.labels.erase(std::string(kRepairsLabel));
  model::SetPart(PartAt(number), &source.recording.labels);
  TD_ASSIGN_OR_RETURN(const std::string name, CopyTo(number, source, kParts, "write"));
  if (name == wish_.name) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the part of ", wish_.name, " was written as ", name));
}

// The damaged part goes only when there is a copy of all on the same node that was read back, and
// that one only when the part is there again.
absl::Status Repairer::MakeWhole(size_t number) {
  const PartNode& node = wish_.nodes[number];
  TD_ASSIGN_OR_RETURN(Source joined, Joined(number));
  if (!IsClosed(number)) return WritePart(number, std::move(joined));
  TD_ASSIGN_OR_RETURN(const Recording draft, MakeDraft(number, std::move(joined)));
  // Another repair may have used it, and deleted it then.
  TD_RETURN_IF_ERROR(node.catalog->GetRecording(draft.name).status());
  TD_RETURN_IF_ERROR(DeleteOnly(node, *states_[number].recording));
  TD_RETURN_IF_ERROR(WritePart(number, {.recording = draft, .from = node.peer}));
  return DeleteOnly(node, draft);
}

absl::Status Repairer::Settle(size_t number) {
  RepairedPart& part = result_.parts[number];
  if (!part.why_not.empty()) return absl::OkStatus();
  if (part.finding != PartFinding::kWhole) {
    TD_RETURN_IF_ERROR(MakeWhole(number));
    part.repaired = true;
    dataplane::Log(dataplane::LogLevel::kInfo, "repair", "made whole",
                   {{"recording", wish_.name}, {"node", part.node}});
    // The other one is joined with what is there now.
    TD_ASSIGN_OR_RETURN(states_[number].recording,
                        wish_.nodes[number].catalog->GetRecording(wish_.name));
  }
  return RemoveDrafts(wish_.nodes[number], ChannelOf(wish_.name), PartAt(number).whole,
                      result_.blocks);
}

absl::StatusOr<Repaired> Repairer::Run() {
  result_.recording = wish_.name;
  TD_RETURN_IF_ERROR(Find());
  if (!wish_.only_look) TD_RETURN_IF_ERROR(FinishBroken());
  TD_RETURN_IF_ERROR(Read());
  for (size_t i = 0; i < 2; ++i) Judge(i);
  for (size_t i = 0; i < 2 && !wish_.only_look; ++i) {
    const absl::Status made = Settle(i);
    if (!made.ok()) return dataplane::Prefixed(result_.parts[i].node + ": ", made);
  }
  return result_;
}

}  // namespace

absl::StatusOr<Repaired> Repair(const RepairWish& wish) { return Repairer(wish).Run(); }

}  // namespace tapedeck::services::copying
