#include "tests/lab/log_writes/survivors.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/node/check.h"
#include "storage_node/recording/caller_loop.h"

namespace tapedeck::lab {

using dataplane::Flow;
using services::RecordingState;

SurvivorCounts Survivors::Look(const std::string& state_dir, const Ledger& ledger) {
  counts_ = {};
  played_.clear();
  if (const absl::Status status = PlayAll(state_dir); !status.ok()) Wrong(status.ToString());
  for (const auto& [recording, promise] : ledger.promises()) Compare(recording, promise);
  CheckFiles(state_dir);
  return counts_;
}

absl::Status Survivors::PlayAll(const std::string& state_dir) {
  TD_ASSIGN_OR_RETURN(const auto node,
                      storage_node::node::StorageNode::Create({.state_dir = state_dir}));
  TD_ASSIGN_OR_RETURN(const auto recordings,
                      node->recordings().ListRecordings("luns/-/channels/-"));
  for (const services::Recording& recording : recordings) {
    TD_RETURN_IF_ERROR(Play(*node, recording));
  }
  return absl::OkStatus();
}

absl::Status Survivors::Play(storage_node::node::StorageNode& node,
                             const services::Recording& recording) {
  Played& played = played_[recording.name];
  played.recording = recording;
  const dataplane::SystemClock clock;
  storage_node::recording::CallerLoop loop(clock);
  using services::session::Admission;
  auto admitted = Await<absl::StatusOr<Admission>>(loop, [&](auto done) {
    node.sessions().Admit(
        {.direction = services::session::Direction::kPlayback, .recording = recording.name}, loop,
        std::make_shared<services::session::AdmissionWatch>(), done);
  });
  TD_ASSIGN_OR_RETURN(const Admission admission, std::move(admitted));
  absl::StatusOr<Flow> flow = Flow::kNotNow;
  loop.RunUntil([&] {
    while (true) {
      dataplane::Block block;
      flow = admission.source->Pull(&block);
      if (!flow.ok() || *flow == Flow::kEnd) return true;
      if (*flow == Flow::kNotNow) return false;
      if ((block.header().flags & dataplane::kBlockMissing) != 0) continue;
      played.good.insert(block.header().sequence);
      CheckBytes(recording.name, block);
    }
  });
  return flow.status();
}

void Survivors::CheckBytes(const std::string& recording, const dataplane::Block& block) {
  const uint64_t sequence = block.header().sequence;
  const auto place = sources_.Find(block.payload());
  if (!place.has_value() || place->sequence != sequence) {
    return Wrong(absl::StrCat(recording, ": block ", sequence, " plays, with wrong bytes"));
  }
  const size_t source = source_of_.emplace(recording, place->source).first->second;
  const std::string& owner = recording_of_.emplace(place->source, recording).first->second;
  if (source == place->source && owner == recording) return;
  Wrong(absl::StrCat(recording, ": block ", sequence, " plays, with the bytes of ", owner));
}

void Survivors::Compare(const std::string& recording, const Promise& promise) {
  const auto it = played_.find(recording);
  if (it == played_.end()) {
    if (promise.may_be_gone || promise.gone) return;
    counts_.promised += promise.blocks;
    counts_.lost += promise.blocks;
    if (promise.blocks > 0) {
      complain_(absl::StrCat(recording, " is gone, and its ", promise.blocks, " durable blocks"));
    }
    return;
  }
  if (promise.gone) return Wrong(absl::StrCat(recording, " was deleted and is back"));
  const Played& played = it->second;
  counts_.promised += promise.blocks;
  uint64_t lost = 0;
  for (uint64_t i = 0; i < promise.blocks; ++i) lost += played.good.contains(i) ? 0 : 1;
  counts_.lost += lost;
  if (lost > 0) {
    complain_(absl::StrCat(
        recording, ": ", lost, " of ", promise.blocks, " durable blocks lost; it is ",
        services::model::NameOf(played.recording.state), " with ", played.recording.blocks));
  }
  CompareClosed(played, promise);
}

void Survivors::CompareClosed(const Played& played, const Promise& promise) {
  const services::Recording& recording = played.recording;
  if (recording.state != RecordingState::kSealed && recording.state != RecordingState::kSalvaged) {
    Wrong(absl::StrCat(recording.name, " is ", services::model::NameOf(recording.state),
                       " after the start"));
  }
  if (promise.closed.empty()) return;
  if (services::model::NameOf(recording.state) == promise.closed &&
      recording.blocks == promise.all_blocks)
    return;
  Wrong(absl::StrCat(recording.name, " is ", services::model::NameOf(recording.state), " with ",
                     recording.blocks, " blocks; it was ", promise.closed, " with ",
                     promise.all_blocks));
}

void Survivors::CheckFiles(const std::string& state_dir) {
  const dataplane::SystemClock clock;
  const auto totals = storage_node::node::CheckStorage(
      state_dir, clock, [this](const storage_node::node::Finding& finding) {
        if (finding.kind == "missing") return;
        Wrong(absl::StrCat("check: ", finding.where, " ", finding.kind, ": ", finding.detail));
      });
  if (!totals.ok()) Wrong(absl::StrCat("check: ", totals.status().ToString()));
}

}  // namespace tapedeck::lab
