#include "services/session/parts/joined_playback.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "services/base/errors.h"
#include "services/session/opening/transfer.h"
#include "services/session/parts/part_facts.h"

namespace tapedeck::services::parts {

using session::Accept;
using session::Snapshot;
using session::TransferEnd;

namespace {

// So many reports of a session, ten a second, without a block that the sink waits for: the part
// that gives alone is not waited for any longer.
constexpr int kStarvedLooks = 10;

}  // namespace

JoinedPlayback::JoinedPlayback(dataplane::Executor& executor, JoinedSettings settings)
    : executor_(executor), settings_(std::move(settings)), parts_(settings_.nodes.size()) {
  JoinSettings join = settings_.join;
  join.parts = parts_.size();
  join.ring_slots = settings_.nodes.front().end.ring->slots();
  for (const JoinedNode& node : settings_.nodes) {
    join.ring_slots = std::min(join.ring_slots, node.end.ring->slots());
  }
  join.on_done = [this](const absl::Status& status) {
    joined_ = true;
    if (error_.ok()) error_ = status;
    Report();
  };
  join.on_wanted = [this] { BeginOthers(); };
  joiner_ = std::make_shared<Joiner>(executor_, std::move(join), std::move(settings_.sink));
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i].end = std::move(settings_.nodes[i].end);
}

void JoinedPlayback::Start(OnChange on_change) {
  on_change_ = std::move(on_change);
  if (settings_.join.alone.has_value()) return Begin(*settings_.join.alone);
  for (size_t i = 0; i < parts_.size(); ++i) Begin(i);
}

void JoinedPlayback::Begin(size_t number) {
  session::ResumingSettings settings = settings_.nodes[number].session;
  settings.session.ordered = true;
  const bool first = number == settings_.join.alone.value_or(0);
  settings.session.make_end = [this, number, first](const Accept&) -> absl::StatusOr<TransferEnd> {
    TransferEnd end = std::move(parts_[number].end);
    end.sink = std::make_unique<JoinedSink>(joiner_, number);
    if (first) end.stage_times = settings_.stage_times;
    return end;
  };
  parts_[number].session =
      std::make_unique<session::ResumingSession>(executor_, std::move(settings));
  parts_[number].session->Start([this, number](const Snapshot& s) { OnSnapshot(number, s); });
}

void JoinedPlayback::BeginOthers() {
  if (stopped_ || joined_) return;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].session != nullptr) continue;
    model::Playhead& playhead = settings_.nodes[i].session.session.open.playhead;
    const bool damaged_blocks = playhead.damaged_blocks;
    playhead = settings_.playhead_at(joiner_->next());
    playhead.damaged_blocks = damaged_blocks;
    Begin(i);
  }
}

void JoinedPlayback::LookIfItGives() {
  const bool starves = joiner_->Starves() && joiner_->next() == looked_at_;
  looked_at_ = joiner_->next();
  starved_looks_ = starves ? starved_looks_ + 1 : 0;
  if (starved_looks_ >= kStarvedLooks) joiner_->Wake();
}

void JoinedPlayback::Stop() {
  if (std::exchange(stopped_, true)) return;
  joiner_->Abort(JobCancelled());
  for (Part& part : parts_) {
    if (part.session != nullptr) part.session->Stop();
  }
}

void JoinedPlayback::OnSnapshot(size_t number, const Snapshot& snapshot) {
  Part& part = parts_[number];
  if (part.last.ended) return;
  part.last = snapshot;
  if (snapshot.ended) OnEnded(number, snapshot.error);
  if (snapshot.running) LookIfItGives();
  Report();
}

void JoinedPlayback::OnEnded(size_t number, const absl::Status& error) {
  joiner_->Ended(number);
  if (error.ok() || stopped_) return;
  ++failed_parts_;
  const JoinedNode& node = settings_.nodes[number];
  const std::string text =
      absl::StrCat(model::NameOfPart(node.part), ", ", node.session.session.node,
                   ", stops playing: ", error.message());
  dataplane::Log(dataplane::LogLevel::kWarning, "parts", text,
                 {{"recording", node.session.session.open.recording}});
  if (settings_.on_note) {
    auto facts = FactsOf(node.part, node.session.session.node);
    facts["reason"] = ReasonIn(error);
    settings_.on_note(MakeNote("PART_ENDED", text, std::move(facts)));
  }
  if (failed_parts_ == parts_.size()) joiner_->Abort(error);
}

void JoinedPlayback::Report() {
  std::vector<Snapshot> lasts;
  lasts.reserve(parts_.size());
  for (const Part& part : parts_) lasts.push_back(part.last);
  Snapshot sum = session::SumOf(lasts);
  const JoinCounts& counts = joiner_->counts();
  sum.blocks = counts.blocks;
  sum.bytes = counts.bytes;
  sum.ended = joined_ && std::ranges::all_of(parts_, [](const Part& part) {
                return part.session == nullptr || part.last.ended;
              });
  if (sum.ended) {
    if (std::exchange(reported_ended_, true)) return;
    sum.running = false;
    sum.total_blocks = counts.blocks;
    sum.lost_blocks = counts.missing;
    sum.error = error_;
  }
  on_change_(sum);
}

}  // namespace tapedeck::services::parts
