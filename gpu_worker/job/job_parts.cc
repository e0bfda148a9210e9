// Jobs whose recording is held in parts by several storage nodes.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/job/job.h"
#include "gpu_worker/job/job_pacing.h"
#include "services/base/errors.h"
#include "services/model/recording/part.h"
#include "services/session/parts/part_facts.h"
#include "services/session/parts/reorder_window.h"

namespace tapedeck::gpu_worker::job {

using dataplane::TransferOp;
using services::model::Playhead;
using services::session::Direction;
using services::session::Open;

namespace {

// As storage nodes name recordings, with more of chance: each node takes it as it is.
std::string NewWholeId(int64_t wall_ns) {
  std::random_device random;
  return absl::StrFormat(
      "%s-%08x",
      absl::FormatTime("%Y%m%dT%H%M%SZ", absl::FromUnixNanos(wall_ns), absl::UTCTimeZone()),
      random());
}

// The block of the stream that a playback begins with.
absl::StatusOr<uint64_t> FirstBlockOf(const Playhead& playhead, uint64_t block_samples) {
  const auto refused = [](absl::string_view field, absl::string_view what) {
    return services::ArgumentInvalid(field,
                                     absl::StrCat(field, ": a recording in parts plays ", what));
  };
  if (playhead.follow) return refused("playhead.follow", "when it is closed, not while it grows");
  if (playhead.stream) return refused("playhead.stream", "as it is: it has no segments");
  const auto start = static_cast<uint64_t>(std::max<int64_t>(playhead.start, 0));
  switch (playhead.unit) {
    case Playhead::Unit::kBlock:
      return start;
    case Playhead::Unit::kSample:
      return start / block_samples;
    case Playhead::Unit::kTime:
      break;
  }
  return refused("playhead.time", "from a block or a sample, not from a time");
}

// Where each part begins: what the node finds by its sample may lie so far behind what it looks
// for.
Playhead PartPlayhead(uint64_t first, uint64_t reorder_window, uint64_t block_samples) {
  if (first <= reorder_window) return {};
  return {.unit = Playhead::Unit::kSample,
          .start = static_cast<int64_t>((first - reorder_window) * block_samples)};
}

// Of two parts that are to have all blocks both, one that has most; of equal ones not always the
// same, so that jobs share the nodes.
std::optional<size_t> PlayedAlone(const FoundParts& found, const std::string& job) {
  if (found.parts.size() != 2) return std::nullopt;
  std::array<uint64_t, 2> blocks{};
  for (size_t i = 0; i < 2; ++i) {
    const services::Recording& recording = found.parts[i].recording;
    const auto& part = recording.part;
    if (!part.has_value() || part->parts != 2 || part->copies != 2) return std::nullopt;
    blocks[i] = recording.blocks - std::min(recording.blocks, recording.missing_blocks);
  }
  if (blocks[0] == blocks[1]) return std::hash<std::string>()(job) % 2;
  return blocks[0] > blocks[1] ? 0 : 1;
}

std::vector<services::Annotation> AnnotationsOf(const FoundParts& found) {
  std::vector<services::Annotation> all;
  for (const FoundPart& part : found.parts) {
    std::ranges::copy(part.recording.annotations, std::back_inserter(all));
  }
  std::ranges::stable_sort(all, {}, &services::Annotation::sample_start);
  return all;
}

}  // namespace

void Job::AddNote(services::Note note) {
  absl::MutexLock lock(&mutex_);
  job_.notes.push_back(std::move(note));
}

void Job::SetDevicesGroup(Open* open) const {
  if (!environment_.group.empty() && !open->group.has_value()) {
    open->group.emplace().id = environment_.group;
  }
}

services::session::ResumingSettings Job::SessionTo(const JobNode& node, Open open,
                                                   int64_t resume_for_ns) {
  open.recorder = environment_.worker_name;
  services::session::ClientSessionSettings settings{
      .node = node.address,
      .open = std::move(open),
      .transports = environment_.rails,
      .connections_per_rail = environment_.connections_per_rail,
      .trace = span_.branch()};
  return {.session = std::move(settings),
          .resume_for_ns = resume_for_ns,
          .open_stream = [storage = node.storage.get()] { return storage->OpenSession(); }};
}

void Job::OpenParts(transfer::TransferSession& session, const services::RecordSpec& spec,
                    const services::Channel& channel, Open open, const std::string& whose) {
  SetDevicesGroup(&open);
  open.expected_blocks = 0;  // nobody knows how many of them go to one node
  services::model::Part part{.parts = static_cast<uint32_t>(nodes_.size()),
                             .copies = spec.copies,
                             .whole = NewWholeId(environment_.executor->clock().WallNs())};
  const auto sample_bytes =
      pipeline::SampleBytesOf(services::model::SampleType(open.origin, channel.datatype));
  services::parts::DealtSettings settings{
      .block_samples = channel.block_bytes / sample_bytes.value_or(1),
      .copies = spec.copies,
      .on_note = [this, whose](services::Note note) { AddNote(NoteOf(whose, std::move(note))); }};
  for (const JobNode& node : nodes_) {
    open.part = part;
    settings.nodes.push_back(
        {.session = SessionTo(node, open, spec.resume_for_ns), .away = node.away});
    if (whose.empty()) {  // the nodes of a second output are the same
      const std::string name = services::model::NameOfPart(part);
      AddNote(services::MakeNote("PART", absl::StrCat(name, ": ", node.address),
                                 services::parts::FactsOf(part, node.address)));
    }
    ++part.number;
  }
  session.OpenDealt(std::move(settings), channel);
}

absl::StatusOr<std::shared_ptr<Job>> Job::StartJoined(const std::string& name,
                                                      const services::PlaybackSpec& spec,
                                                      const JobEnvironment& environment,
                                                      std::vector<JobNode> nodes,
                                                      FoundParts found) {
  TD_ASSIGN_OR_RETURN(pipeline::PlaybackStages stages, pipeline::ChooseStages(spec));
  const services::Recording& recording = found.parts.front().recording;
  TD_ASSIGN_OR_RETURN(
      const size_t sample_bytes,
      pipeline::SampleBytesOf(services::model::SampleType(recording.origin, recording.datatype)));
  const uint64_t block_samples = recording.block_bytes / sample_bytes;
  TD_ASSIGN_OR_RETURN(const uint64_t first, FirstBlockOf(PlayheadOf(spec), block_samples));
  auto job =
      std::shared_ptr<Job>(new Job(name, Direction::kPlayback, environment, std::move(nodes)));
  std::vector<std::unique_ptr<transfer::TransferSession>> rings;
  for (const FoundPart& part : found.parts) {
    TD_ASSIGN_OR_RETURN(rings.emplace_back(),
                        job->NewSession({.op = spec.transfer.op.value_or(TransferOp::kWrite),
                                         .slots = spec.transfer.slots,
                                         .block_bytes = part.recording.block_bytes,
                                         .whose = part.name,
                                         .host = true}));
  }
  TD_ASSIGN_OR_RETURN(const auto pace, PlanPace(spec, recording, rings.front()->ring()->slots()));
  const auto times = std::make_shared<pipeline::BlockTimes>(recording, block_samples);
  times->BeginAt(first);
  TD_ASSIGN_OR_RETURN(pipeline::Playback pipeline,
                      pipeline::CreatePlayback({.stages = std::move(stages),
                                                .channel = {.datatype = recording.datatype,
                                                            .block_bytes = recording.block_bytes,
                                                            .sample_rate = recording.sample_rate},
                                                .origin = recording.origin,
                                                .annotations = AnnotationsOf(found),
                                                .files = environment.files,
                                                .destinations = environment.destinations,
                                                .device = environment.device,
                                                .pace = pace,
                                                .times = times}));
  job->KeepPace(pace);
  job->report_ = std::move(pipeline.report);
  for (const services::Note& note : found.notes) job->AddNote(note);
  for (const services::Note& note : pipeline.notes) job->AddNote(note);
  {
    absl::MutexLock lock(&job->mutex_);
    job->compared_ = std::move(pipeline.compared);
    job->job_.recording = spec.transfer.target;
    job->job_.target = spec.transfer.target;
  }
  job->OpenJoined(spec, found, std::move(pipeline), std::move(rings), first, block_samples);
  return job;
}

void Job::OpenJoined(const services::PlaybackSpec& spec, const FoundParts& found,
                     pipeline::Playback pipeline,
                     std::vector<std::unique_ptr<transfer::TransferSession>> rings, uint64_t first,
                     uint64_t block_samples) {
  const uint64_t block_bytes = found.parts.front().recording.block_bytes;
  const uint64_t reorder_window = services::parts::ReorderWindowOf(block_bytes);
  Open open{.direction = Direction::kPlayback,
            .recording = spec.transfer.target,
            .op = spec.transfer.op,
            .playhead = PartPlayhead(first, reorder_window, block_samples)};
  open.playhead.damaged_blocks = pipeline.damaged_blocks;
  services::parts::JoinedSettings settings{
      .stage_times = [sink = pipeline.sink.get()] { return sink->stage_times(); },
      .join = {.block_samples = block_samples,
               .block_bytes = block_bytes,
               .reorder_window = reorder_window,
               .first = first,
               .alone = PlayedAlone(found, state().name)},
      .playhead_at =
          [=](uint64_t block) { return PartPlayhead(block, reorder_window, block_samples); },
      .on_note = [this](services::Note note) { AddNote(std::move(note)); }};
  settings.sink = std::move(pipeline.sink);
  for (size_t i = 0; i < found.parts.size(); ++i) {
    settings.nodes.push_back(
        {.session = SessionTo(found.parts[i].node, open, 0),
         .end = std::move(rings[i]->end()),
         .part = found.parts[i].recording.part.value_or(services::model::Part())});
  }
  session_ = std::move(rings.front());
  session_->OpenJoined(std::move(settings));
  Begin(*session_, &Job::OnChange);
}

}  // namespace tapedeck::gpu_worker::job
