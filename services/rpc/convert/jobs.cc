#include "services/rpc/convert/jobs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dataplane/status_macros.h"
#include "services/rpc/convert/job_codec.h"
#include "services/rpc/convert/values/counters.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/pacing.h"
#include "services/rpc/convert/values/playhead.h"
#include "services/rpc/convert/values/rpc_status.h"
#include "services/rpc/convert/values/stage.h"
#include "services/rpc/convert/values/stage_times.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {
namespace {

uint64_t BytesOf(double mb_per_s, int64_t elapsed_ns) {
  return static_cast<uint64_t>(std::llround(mb_per_s * static_cast<double>(elapsed_ns) / 1e3));
}

// Of a request or an output.
template <typename Message>
absl::StatusOr<std::vector<StageSpec>> TransformsOf(const Message& message) {
  std::vector<StageSpec> out;
  for (const v1::Stage& stage : message.transforms()) {
    TD_ASSIGN_OR_RETURN(out.emplace_back(), FromProto(stage));
  }
  return out;
}

template <typename Request>
void SetTransfer(const TransferSpec& spec, Request& request) {
  request.set_storage(spec.storage);
  for (const StageSpec& stage : spec.transforms) *request.add_transforms() = ToProto(stage);
  for (const std::string& rail : spec.rails) request.add_rails(rail);
  request.set_device(spec.device);
  request.set_slots(spec.slots);
  request.set_request_id(spec.request_id);
  if (spec.op.has_value()) request.set_transfer_op(static_cast<v1::TransferOp>(*spec.op));
}

template <typename Request>
absl::StatusOr<TransferSpec> TransferOf(const Request& request, const std::string& target) {
  TransferSpec out{.storage = request.storage(),
                   .target = target,
                   .rails = {request.rails().begin(), request.rails().end()},
                   .device = request.device(),
                   .slots = request.slots(),
                   .request_id = request.request_id()};
  if (request.transfer_op() != v1::TRANSFER_OP_UNSPECIFIED) {
    TD_ASSIGN_OR_RETURN(out.op,
                        FromEnum<dataplane::TransferOp>(request.transfer_op(), 3, "transfer_op"));
  }
  TD_ASSIGN_OR_RETURN(out.transforms, TransformsOf(request));
  return out;
}

v1::Output ToProto(const OutputSpec& spec) {
  v1::Output out;
  out.set_channel(spec.channel);
  for (const StageSpec& stage : spec.transforms) *out.add_transforms() = convert::ToProto(stage);
  return out;
}

v1::JobOutput ToProto(const JobOutput& output) {
  v1::JobOutput out;
  WriteFields(output, out);
  if (!output.error.ok()) *out.mutable_error() = convert::ToProto(output.error);
  return out;
}

// With the texts alone beside them, for clients that know no codes.
void WriteNotes(const Notes& notes, v1::Job& job) {
  for (const Note& note : notes) {
    job.add_notes(note.text);
    WriteFields(note, *job.add_coded_notes());
  }
}

// Of a worker that knows no codes, or of its list of jobs, there are texts alone.
absl::StatusOr<Notes> NotesOf(const v1::Job& job) {
  Notes notes;
  for (const v1::Note& note : job.coded_notes()) {
    TD_RETURN_IF_ERROR(ReadFields(note, notes.emplace_back()));
  }
  if (!notes.empty()) return notes;
  for (const std::string& text : job.notes()) notes.push_back({.text = text});
  return notes;
}

v1::JobRail ToProto(const model::RailProgress& rail, int64_t elapsed_ns) {
  v1::JobRail out;
  out.set_name(rail.name);
  out.set_blocks(rail.blocks);
  out.set_mb_per_s(model::MegabytesPerSecond(rail.bytes, elapsed_ns));
  out.set_up(rail.up);
  out.set_cause(rail.cause);
  return out;
}

}  // namespace

v1::StartRecordRequest ToProto(const RecordSpec& spec) {
  v1::StartRecordRequest out;
  out.set_channel(spec.transfer.target);
  SetTransfer(spec.transfer, out);
  *out.mutable_source() = ToProto(spec.source);
  if (spec.blocks != 0) {
    out.set_blocks(spec.blocks);
  } else if (spec.duration_ns != 0) {
    *out.mutable_duration() = ToDuration(spec.duration_ns);
  }
  *out.mutable_resume_for() = ToDuration(spec.resume_for_ns);
  if (spec.at_ns != 0) *out.mutable_at() = ToTimestamp(spec.at_ns);
  if (const auto& group = spec.transfer.group; group.has_value()) {
    out.mutable_group()->set_id(group->id);
    out.mutable_group()->set_name(group->name);
    out.mutable_group()->set_number(group->number);
    out.mutable_group()->set_members(group->members);
  }
  if (spec.copies > 1) out.set_copies(spec.copies);
  out.mutable_standbys()->Assign(spec.transfer.standbys.begin(), spec.transfer.standbys.end());
  for (const OutputSpec& output : spec.outputs) *out.add_outputs() = ToProto(output);
  return out;
}

absl::StatusOr<RecordSpec> FromProto(const v1::StartRecordRequest& request) {
  RecordSpec out;
  TD_ASSIGN_OR_RETURN(out.transfer, TransferOf(request, request.channel()));
  TD_ASSIGN_OR_RETURN(out.source, FromProto(request.source()));
  out.blocks = request.blocks();
  out.duration_ns = FromDuration(request.duration());
  if (request.has_resume_for()) out.resume_for_ns = FromDuration(request.resume_for());
  out.at_ns = FromTimestamp(request.at());
  if (request.has_group()) {
    out.transfer.group = model::GroupMember{.id = request.group().id(),
                                            .name = request.group().name(),
                                            .number = request.group().number(),
                                            .members = request.group().members()};
  }
  out.copies = std::max<uint32_t>(request.copies(), 1);
  out.transfer.standbys.assign(request.standbys().begin(), request.standbys().end());
  for (const v1::Output& output : request.outputs()) {
    TD_ASSIGN_OR_RETURN(std::vector<StageSpec> transforms, TransformsOf(output));
    out.outputs.push_back({.channel = output.channel(), .transforms = std::move(transforms)});
  }
  return out;
}

v1::StartPlaybackRequest ToProto(const PlaybackSpec& spec) {
  v1::StartPlaybackRequest out;
  out.set_recording(spec.transfer.target);
  SetTransfer(spec.transfer, out);
  *out.mutable_sink() = ToProto(spec.sink);
  if (spec.playhead != model::Playhead()) *out.mutable_playhead() = ToProto(spec.playhead);
  if (spec.pacing != model::Pacing()) *out.mutable_pacing() = ToProto(spec.pacing);
  return out;
}

absl::StatusOr<PlaybackSpec> FromProto(const v1::StartPlaybackRequest& request) {
  PlaybackSpec out;
  TD_ASSIGN_OR_RETURN(out.transfer, TransferOf(request, request.recording()));
  out.playhead = FromProto(request.playhead());
  out.pacing = FromProto(request.pacing());
  TD_ASSIGN_OR_RETURN(out.sink, FromProto(request.sink()));
  return out;
}

v1::Job ToProto(const Job& job) {
  v1::Job out;
  WriteFields(job, out);
  out.set_mb_per_s(model::MegabytesPerSecond(job.bytes, job.elapsed_ns));
  *out.mutable_counters() = ToProto(job.counters);
  for (const auto& rail : job.rails) *out.add_rails() = ToProto(rail, job.elapsed_ns);
  WriteNotes(job.notes, out);
  Write(job.stage_times, *out.mutable_stage_times());
  if (job.timing.has_value()) WriteFields(*job.timing, *out.mutable_timing());
  for (const JobOutput& output : job.outputs) *out.add_outputs() = ToProto(output);
  if (!job.error.ok()) *out.mutable_error() = ToProto(job.error);
  return out;
}

JobCodec JobMessages() {
  return {.encode = [](const Job& job) { return ToProto(job).SerializeAsString(); },
          .decode = [](const std::string& bytes) -> absl::StatusOr<Job> {
            v1::Job job;
            if (!job.ParseFromString(bytes)) return absl::DataLossError("it is no job");
            return FromProto(job);
          }};
}

absl::StatusOr<Job> FromProto(const v1::Job& job) {
  Job out{.counters = FromProto(job.counters()),
          .stage_times = Read(job.stage_times()),
          .error = FromProto(job.error())};
  TD_RETURN_IF_ERROR(ReadFields(job, out));
  TD_ASSIGN_OR_RETURN(out.notes, NotesOf(job));
  if (job.has_timing()) TD_RETURN_IF_ERROR(ReadFields(job.timing(), out.timing.emplace()));
  for (const v1::JobRail& rail : job.rails()) {
    out.rails.push_back({.name = rail.name(),
                         .blocks = rail.blocks(),
                         .bytes = BytesOf(rail.mb_per_s(), out.elapsed_ns),
                         .up = rail.up(),
                         .cause = rail.cause()});
  }
  for (const v1::JobOutput& output : job.outputs()) {
    out.outputs.push_back({.error = FromProto(output.error())});
    TD_RETURN_IF_ERROR(ReadFields(output, out.outputs.back()));
  }
  return out;
}

}  // namespace tapedeck::services::convert
