#include "services/rpc/convert/jobs.h"

#include <cmath>

#include "dataplane/status_macros.h"
#include "services/rpc/convert/job_codec.h"
#include "services/rpc/convert/values/counters.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/playhead.h"
#include "services/rpc/convert/values/rpc_status.h"
#include "services/rpc/convert/values/stage.h"
#include "services/rpc/convert/values/stage_times.h"

namespace tapedeck::services::convert {
namespace {

uint64_t BytesOf(double mb_per_s, int64_t elapsed_ns) {
  return static_cast<uint64_t>(std::llround(mb_per_s * static_cast<double>(elapsed_ns) / 1e3));
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
  WriteFields(spec.transfer, out);
  WriteFields(spec, out);
  return out;
}

absl::StatusOr<RecordSpec> FromProto(const v1::StartRecordRequest& request) {
  RecordSpec out{.transfer = {.target = request.channel()}};
  TD_RETURN_IF_ERROR(ReadFields(request, out.transfer));
  TD_RETURN_IF_ERROR(ReadFields(request, out));
  return out;
}

v1::StartPlaybackRequest ToProto(const PlaybackSpec& spec) {
  v1::StartPlaybackRequest out;
  out.set_recording(spec.transfer.target);
  WriteFields(spec.transfer, out);
  WriteFields(spec, out);
  return out;
}

absl::StatusOr<PlaybackSpec> FromProto(const v1::StartPlaybackRequest& request) {
  PlaybackSpec out{.transfer = {.target = request.recording()}};
  TD_RETURN_IF_ERROR(ReadFields(request, out.transfer));
  TD_RETURN_IF_ERROR(ReadFields(request, out));
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
