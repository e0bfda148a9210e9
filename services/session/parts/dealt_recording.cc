#include "services/session/parts/dealt_recording.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/opening/transfer.h"
#include "services/session/parts/dealt_source.h"
#include "services/session/parts/part_facts.h"
#include "services/session/parts/reorder_window.h"

namespace tapedeck::services::parts {

using session::Accept;
using session::Snapshot;
using session::TransferEnd;

namespace {

// A node that comes and goes all night must not fill the job's notes.
constexpr size_t kMostNotes = 64;

constexpr absl::string_view kToOthers = "; its blocks go to the others";

}  // namespace

DealtRecording::DealtRecording(dataplane::Executor& executor, DealtSettings settings)
    : executor_(executor),
      settings_(std::move(settings)),
      dealer_(std::make_shared<Dealer>(
          executor.clock(), std::move(settings_.end.source),
          DealSettings{.block_samples = settings_.block_samples,
                       .slots = settings_.end.ring->slots(),
                       .reorder_window = ReorderWindowOf(settings_.end.ring->slot_bytes()),
                       .parts = settings_.nodes.size(),
                       .copies = settings_.copies})),
      parts_(settings_.nodes.size()),
      answering_(settings_.nodes.size()) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].session = std::make_unique<session::ResumingSession>(executor_, SettingsOf(i));
  }
}

session::ResumingSettings DealtRecording::SettingsOf(size_t part) {
  session::ResumingSettings settings = settings_.nodes[part].session;
  settings.begins_late = true;
  settings.session.make_end = [this, part](const Accept& accept) { return MakeEnd(part, accept); };
  settings.give_elsewhere = [this, part](std::vector<dataplane::Block> blocks) {
    dealer_->GiveBack(part, std::move(blocks));
  };
  return settings;
}

absl::StatusOr<TransferEnd> DealtRecording::MakeEnd(size_t part, const Accept& accept) {
  TD_RETURN_IF_ERROR(settings_.check(accept));
  TransferEnd end{.source = std::make_unique<DealtSource>(dealer_, part),
                  .ring = settings_.end.ring,
                  .check_payload = settings_.end.check_payload};
  // What the stream's own stages took, once.
  if (part == 0) end.stage_times = settings_.end.stage_times;
  return end;
}

void DealtRecording::Start(OnChange on_change) {
  on_change_ = std::move(on_change);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!settings_.nodes[i].away.ok()) OnAway(i, settings_.nodes[i].away);
  }
  if (!failed_.ok()) return Report();
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].session->Start([this, i](const Snapshot& snapshot) { OnSnapshot(i, snapshot); });
  }
  Look();
}

Sign DealtRecording::SignOf(size_t number) const {
  const Part& part = parts_[number];
  return {.due = !part.told_away && !part.last.ended,
          .running = part.last.running,
          .rail_up = std::ranges::any_of(part.last.rails, &session::RailProgress::up),
          .owes = settings_.copies < parts_.size() && dealer_->open(number) > 0,
          .holds_up = dealer_->HoldsUp(number),
          .heard = part.last.heard,
          .acknowledged = dealer_->acknowledged(number)};
}

void DealtRecording::Look() {
  if (reported_ended_ || dealer_->complete()) return;
  std::vector<Sign> signs;
  signs.reserve(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) signs.push_back(SignOf(i));
  const std::vector<Answer> answers = answering_.Look(signs);
  for (size_t i = 0; i < parts_.size(); ++i) OnAnswer(i, answers[i]);
  executor_.PostAfter(kLookNs, lifetime_.Guard([this] { Look(); }));
}

void DealtRecording::OnAnswer(size_t number, Answer answer) {
  Part& part = parts_[number];
  const Answer before = std::exchange(part.answer, answer);
  if (answer == before) return;
  if (answer == Answer::kNormal) {
    dealer_->Trust(number);
  } else {
    dealer_->Suspect(number, answer == Answer::kSilent);
  }
  // What a slow disk does all day is for the log.
  if (answer == Answer::kSilent) {
    TellDegraded("PART_SILENT", number, "does not answer", kToOthers, " until it does");
  } else if (before == Answer::kSilent && !part.told_away && !part.last.ended) {
    Tell("PART_ANSWERS", number, "answers again");
  } else {
    const bool stuck = answer == Answer::kStuck;
    dataplane::Log(dataplane::LogLevel::kInfo, "parts",
                   stuck ? "acknowledges nothing" : "acknowledges again", {{"node", node(number)}});
  }
}

void DealtRecording::Stop() {
  stopped_ = true;
  dealer_->End();
  for (Part& part : parts_) {
    if (!part.ran && !part.last.ended) part.session->Stop();
  }
  StopThoseAway();
}

void DealtRecording::EndsEarly(const std::string& why) {
  for (Part& part : parts_) part.session->EndsEarly(why);
}

void DealtRecording::StopThoseAway() {
  for (Part& part : parts_) {
    if (part.told_away && !part.last.ended) part.session->Stop();
  }
}

void DealtRecording::OnSnapshot(size_t number, const Snapshot& snapshot) {
  Part& part = parts_[number];
  if (part.last.ended) return;
  part.last = snapshot;
  const bool ran = std::exchange(part.ran, part.ran || snapshot.running);
  if (snapshot.resuming) OnAway(number, snapshot.loss);
  if (snapshot.running && !snapshot.ended && std::exchange(part.told_away, false)) {
    ran ? Tell("PART_GOES_ON", number, "continues")
        : Tell("PART_BEGINS", number, "is reachable, and begins");
  }
  if (snapshot.ended) OnEnded(number, snapshot.error);
  // Not inside the callback of one of them.
  if (snapshot.ended || snapshot.resuming) {
    executor_.Post(lifetime_.Guard([this] {
      if (dealer_->complete()) StopThoseAway();
    }));
  }
  Report();
}

void DealtRecording::OnAway(size_t number, const absl::Status& cause) {
  Part& part = parts_[number];
  if (std::exchange(part.told_away, true)) return;
  if (!part.ran) {
    dealer_->GiveBack(number, {});
    const bool anyone = std::ranges::any_of(
        parts_, [](const Part& each) { return each.ran || !(each.told_away || each.last.ended); });
    if (!anyone && !stopped_) return Refuse(number, cause);
  }
  const std::string since = part.ran ? "is lost" : absl::StrCat("is away (", cause.message(), ")");
  TellDegraded(part.ran ? "PART_LOST" : "PART_AWAY", number, since, kToOthers, " until it is back");
}

void DealtRecording::Refuse(size_t number, const absl::Status& error) {
  failed_ = dataplane::Prefixed(absl::StrCat(node(number), ": "), error);
  dealer_->End();
  for (Part& other : parts_) {
    if (!other.last.ended) other.session->Stop();
  }
}

// A node that was away, and then refuses, is given up as one that was lost.
void DealtRecording::OnEnded(size_t number, const absl::Status& error) {
  Part& part = parts_[number];
  ++ended_parts_;
  if (!error.ok()) {
    // Also where its session took nothing.
    dealer_->GiveBack(number, {});
    last_loss_ = error;
    if (!failed_.ok() || !dealer_->error().ok()) return;
    if (!part.ran && !part.told_away && !stopped_) {
      Refuse(number, error);
    } else if (!dealer_->complete()) {
      TellDegraded("PART_GIVEN_UP", number, "is given up", "", absl::StrCat(": ", error.message()),
                   {{"reason", ReasonIn(error)}});
    }
  }
}

std::optional<uint64_t> DealtRecording::DegradedFrom() const {
  return dealer_->complete() ? std::nullopt : dealer_->degraded_from();
}

void DealtRecording::TellDegraded(absl::string_view code, size_t number, const std::string& what,
                                  absl::string_view else_text, absl::string_view then,
                                  std::map<std::string, std::string> facts) {
  const std::optional<uint64_t> from = DegradedFrom();
  if (!from.has_value()) {
    return Tell(code, number, absl::StrCat(what, else_text, then), std::move(facts));
  }
  facts["degraded_from"] = absl::StrCat(*from);
  Tell(code, number,
       absl::StrCat(what, "; DEGRADED: there is one copy of each block from block ", *from, " on",
                    then),
       std::move(facts));
}

// Of the whole, once it has ended.
void DealtRecording::NoteCopies() {
  const DealCounts& counts = dealer_->counts();
  if (counts.too_few == 0 || !settings_.on_note) return;
  const std::string& channel = settings_.nodes.front().session.session.open.channel;
  const bool kept = !absl::StartsWith(channel, "inlets/");
  settings_.on_note(
      MakeNote("ONE_COPY",
               absl::StrCat("DEGRADED: ", counts.too_few, " blocks, the first of them block ",
                            counts.first_too_few, ", have one copy alone",
                            kept ? ": tapectl repair makes the other" : ""),
               {{"blocks", absl::StrCat(counts.too_few)},
                {"first_block", absl::StrCat(counts.first_too_few)}}));
}

void DealtRecording::Tell(absl::string_view code, size_t number, const std::string& what,
                          std::map<std::string, std::string> facts) {
  const model::Part part{.number = static_cast<uint32_t>(number + 1),
                         .parts = static_cast<uint32_t>(parts_.size())};
  const std::string text = absl::StrCat(model::NameOfPart(part), ", ", node(number), ", ", what);
  dataplane::Log(dataplane::LogLevel::kWarning, "parts", text,
                 {{"recording", parts_[number].last.accept.recording}});
  if (++notes_ > kMostNotes || !settings_.on_note) return;
  facts.merge(FactsOf(part, node(number)));
  settings_.on_note(MakeNote(code, text, std::move(facts)));
}

absl::Status DealtRecording::Error() const {
  if (!failed_.ok()) return failed_;
  if (!dealer_->error().ok()) return dealer_->error();
  if (dealer_->complete()) return absl::OkStatus();
  if (stopped_ && last_loss_.ok()) return JobCancelled();
  if (last_loss_.ok()) return absl::InternalError("all parts ended before the stream");
  return dataplane::Prefixed("no storage node is left: ", last_loss_);
}

void DealtRecording::Report() {
  std::vector<Snapshot> lasts;
  lasts.reserve(parts_.size());
  for (const Part& part : parts_) lasts.push_back(part.last);
  Snapshot sum = session::SumOf(lasts);
  const DealCounts& counts = dealer_->counts();
  sum.blocks = counts.acknowledged;
  sum.bytes = counts.bytes;
  sum.resuming = sum.resuming && std::ranges::any_of(parts_, &Part::ran);
  sum.counters.retransmitted_blocks += counts.again;
  sum.ended = ended_parts_ == parts_.size();
  if (sum.ended) {
    if (std::exchange(reported_ended_, true)) return;
    NoteCopies();
    sum.running = false;
    sum.resuming = false;
    sum.total_blocks = counts.blocks;
    sum.lost_blocks = counts.missing;
    sum.error = Error();
  }
  on_change_(sum);
}

}  // namespace tapedeck::services::parts
