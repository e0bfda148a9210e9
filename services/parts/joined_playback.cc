#include "services/parts/joined_playback.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "services/errors.h"
#include "services/parts/sums.h"

namespace tapedeck::services::parts {

using session::Accept;
using session::Snapshot;
using session::TransferEnd;

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
  joiner_ = std::make_shared<Joiner>(executor_, std::move(join), std::move(settings_.sink));
  for (size_t i = 0; i < parts_.size(); ++i) {
    JoinedNode& node = settings_.nodes[i];
    parts_[i].end = std::move(node.end);
    session::ResumingSettings settings = node.session;
    settings.session.ordered = true;
    settings.session.make_end = [this, i](const Accept&) -> absl::StatusOr<TransferEnd> {
      TransferEnd end = std::move(parts_[i].end);
      end.sink = std::make_unique<JoinedSink>(joiner_, i);
      if (i == 0) end.stage_times = settings_.stage_times;
      return end;
    };
    settings.session.on_change = [this, i](const Snapshot& snapshot) { OnChange(i, snapshot); };
    parts_[i].session = std::make_unique<session::ResumingSession>(executor_, std::move(settings));
  }
}

void JoinedPlayback::Start() {
  for (Part& part : parts_) part.session->Start();
}

void JoinedPlayback::Stop() {
  if (std::exchange(stopped_, true)) return;
  joiner_->Abort(JobCancelled());
  for (Part& part : parts_) part.session->Stop();
}

void JoinedPlayback::OnChange(size_t number, const Snapshot& snapshot) {
  Part& part = parts_[number];
  if (part.last.ended) return;
  part.last = snapshot;
  if (snapshot.ended) OnEnded(number, snapshot.error);
  Report();
}

void JoinedPlayback::OnEnded(size_t number, const absl::Status& error) {
  ++ended_parts_;
  joiner_->Ended(number);
  if (error.ok() || stopped_) return;
  ++failed_parts_;
  const JoinedNode& node = settings_.nodes[number];
  const std::string text = absl::StrCat(node.part, ", ", node.session.session.node,
                                        ", plays no further: ", error.message());
  dataplane::Log(dataplane::LogLevel::kWarning, "parts", text,
                 {{"recording", node.session.session.open.recording}});
  if (settings_.on_note) settings_.on_note(text);
  if (failed_parts_ == parts_.size()) joiner_->Abort(error);
}

void JoinedPlayback::Report() {
  std::vector<Snapshot> lasts;
  lasts.reserve(parts_.size());
  for (const Part& part : parts_) lasts.push_back(part.last);
  Snapshot sum = Sum(lasts);
  const JoinCounts& counts = joiner_->counts();
  sum.blocks = counts.blocks;
  sum.bytes = counts.bytes;
  sum.ended = joined_ && ended_parts_ == parts_.size();
  if (sum.ended) {
    if (std::exchange(reported_ended_, true)) return;
    sum.running = false;
    sum.total_blocks = counts.blocks;
    sum.lost_blocks = counts.missing;
    sum.error = error_;
  }
  settings_.on_change(sum);
}

}  // namespace tapedeck::services::parts
