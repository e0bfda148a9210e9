// What a job opens: its rings, and the transfers of its first and its second output.
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/job/job.h"
#include "gpu_worker/job/job_pacing.h"

namespace tapedeck::gpu_worker::job {

using services::session::Direction;
using services::session::Snapshot;

services::Note Job::NoteOf(const std::string& whose, services::Note note) {
  if (whose.empty()) return note;
  note.text = absl::StrCat(whose, ": ", note.text);
  note.facts.emplace("whose", whose);
  return note;
}

absl::StatusOr<std::unique_ptr<transfer::TransferSession>> Job::NewSession(
    const SessionRing& ring) {
  TD_ASSIGN_OR_RETURN(transfer::TransferRing made,
                      transfer::MakeTransferRing({.device = environment_.device->device.get(),
                                                  .ladder = environment_.ladder,
                                                  .rails = environment_.rails,
                                                  .direction = state().direction,
                                                  .op = ring.op,
                                                  .slots = ring.slots,
                                                  .block_bytes = ring.block_bytes,
                                                  .run = ring.run,
                                                  .host = ring.host}));
  span_.AddEvent("ring made", {{"tapedeck.slots", static_cast<int64_t>(made.ring->slots())},
                               {"tapedeck.memory",
                                made.notes.empty()
                                    ? "host memory"
                                    : absl::StrJoin(services::model::TextsOf(made.notes), "; ")}});
  {
    absl::MutexLock lock(&mutex_);
    for (services::Note& note : made.notes) {
      job_.notes.push_back(NoteOf(ring.whose, std::move(note)));
    }
  }
  return std::make_unique<transfer::TransferSession>(*environment_.executor, std::move(made));
}

void Job::OpenRecording(const services::RecordSpec& spec, const services::Channel& channel,
                        pipeline::Recording recording) {
  services::session::TransferEnd& end = session_->end();
  end.stage_times = [source = recording.source.get()] { return source->stage_times(); };
  goal_ = {.blocks = recording.expected_blocks,
           .duration_ns = spec.duration_ns,
           .began = recording.source->Began()};
  end.source = std::move(recording.source);
  std::optional<services::model::RecordingGroup> group;
  if (spec.transfer.group.has_value()) {
    const pace::ClockError clock = pace::SystemClockErrorAt(spec.at_ns);
    group = GroupOf(*spec.transfer.group, spec.at_ns, clock);
    recording.notes.push_back(GroupNote(*spec.transfer.group, clock));
  }
  {
    absl::MutexLock lock(&mutex_);
    std::ranges::move(recording.notes, std::back_inserter(job_.notes));
    job_.target = channel.name;
  }
  services::session::Open open{.direction = Direction::kRecord,
                               .channel = channel.name,
                               .request_id = spec.transfer.request_id,
                               .op = spec.transfer.op,
                               .expected_blocks = recording.expected_blocks,
                               .origin = std::move(recording.origin),
                               .group = std::move(group)};
  OpenInto(*session_, spec, channel, std::move(open), "");
  Begin(*session_, &Job::OnChange);
}

void Job::OpenInto(transfer::TransferSession& session, const services::RecordSpec& spec,
                   const services::Channel& channel, services::session::Open open,
                   const std::string& whose) {
  if (nodes_.size() > 1) return OpenParts(session, spec, channel, std::move(open), whose);
  OpenSession(session, std::move(open),
              {.resume_for_ns = spec.resume_for_ns,
               .channel = channel,
               .trail = whose.empty() ? environment_.trail : nullptr});
}

void Job::OpenSecond(const services::RecordSpec& spec, const services::Channel& channel,
                     pipeline::SecondRecording recording) {
  second_->end().source = std::move(recording.source);
  {
    absl::MutexLock lock(&mutex_);
    job_.outputs.push_back({.channel = channel.name});
  }
  OpenInto(*second_, spec, channel,
           {.direction = Direction::kRecord,
            .channel = channel.name,
            .expected_blocks = recording.expected_blocks,
            .origin = std::move(recording.origin)},
           kSecondOutput);
  Begin(*second_, &Job::OnSecondChange);
}

void Job::OpenSession(transfer::TransferSession& session, services::session::Open open,
                      Manner manner) {
  open.recorder = environment_.worker_name;
  if (open.direction == Direction::kRecord) SetDevicesGroup(&open);
  services::session::ClientSessionSettings settings{
      .node = nodes_.front().address,
      .open = std::move(open),
      .transports = environment_.rails,
      .connections_per_rail = environment_.connections_per_rail,
      .ordered = manner.ordered,
      .trail = std::move(manner.trail),
      .trace = span_.branch()};
  session.Open(
      {.session = std::move(settings),
       .resume_for_ns = manner.resume_for_ns,
       .open_stream = [this] { return nodes_.front().storage->OpenSession(); },
       .standbys = nodes_.front().standbys,
       .open_standby = [this](size_t n) { return nodes_.front().storage->OpenStandby(n); }},
      std::move(manner.channel));
}

void Job::Begin(services::session::Transfer& transfer, void (Job::*heard)(const Snapshot&)) {
  environment_.executor->Post([self = shared_from_this(), &transfer, heard] {
    transfer.Start([self, heard](const Snapshot& snapshot) { (*self.*heard)(snapshot); });
  });
}

}  // namespace tapedeck::gpu_worker::job
