#include "services/rpc/convert/jobs.h"

#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/rpc/convert/codecs.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/time.h"
#include "services/rpc/convert/values/transfer.h"

namespace tapedeck::services::convert {
namespace {

uint64_t BytesOf(double mb_per_s, int64_t elapsed_ns) {
  return static_cast<uint64_t>(std::llround(mb_per_s * static_cast<double>(elapsed_ns) / 1e3));
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

struct ParameterWriter {
  v1::Parameter& out;

  void operator()(int64_t value) const { out.set_integer(value); }
  void operator()(uint64_t value) const { out.set_unsigned_integer(value); }
  void operator()(double value) const { out.set_number(value); }
  void operator()(const std::string& value) const { out.set_text(value); }
  void operator()(bool value) const { out.set_flag(value); }
  void operator()(const std::vector<double>& values) const {
    out.mutable_numbers()->mutable_values()->Assign(values.begin(), values.end());
  }
};

absl::StatusOr<ParameterValue> FromProto(const std::string& name, const v1::Parameter& parameter) {
  switch (parameter.value_case()) {
    case v1::Parameter::kInteger:
      return parameter.integer();
    case v1::Parameter::kUnsignedInteger:
      return parameter.unsigned_integer();
    case v1::Parameter::kNumber:
      return parameter.number();
    case v1::Parameter::kText:
      return parameter.text();
    case v1::Parameter::kFlag:
      return parameter.flag();
    case v1::Parameter::kNumbers:
      return std::vector<double>(parameter.numbers().values().begin(),
                                 parameter.numbers().values().end());
    case v1::Parameter::VALUE_NOT_SET:
      break;
  }
  return FieldError(name, "has no value, or one of a kind that is not known");
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
  out.mutable_counters();  // there even if all are 0
  WriteNotes(job.notes, out);
  Write(job.stage_times, *out.mutable_stage_times());
  return out;
}

JobCodec JobMessages() {
  return {.encode = [](const Job& job) { return ToProto(job).SerializeAsString(); },
          .decode = [](const std::string& bytes) -> absl::StatusOr<Job> {
            v1::Job job;
            if (!job.ParseFromString(bytes)) return absl::DataLossError("it is not a job");
            return FromProto(job);
          }};
}

absl::StatusOr<Job> FromProto(const v1::Job& job) {
  Job out{.stage_times = Read(job.stage_times())};
  TD_RETURN_IF_ERROR(ReadFields(job, out));
  TD_ASSIGN_OR_RETURN(out.notes, NotesOf(job));
  for (const v1::JobRail& rail : job.rails()) {
    out.rails.push_back({.name = rail.name(),
                         .blocks = rail.blocks(),
                         .bytes = BytesOf(rail.mb_per_s(), out.elapsed_ns),
                         .up = rail.up(),
                         .cause = rail.cause()});
  }
  return out;
}

v1::Inlet ToProto(const Inlet& inlet) {
  v1::Inlet out;
  out.set_name(inlet.name);
  out.set_datatype(inlet.datatype);
  out.set_block_bytes(inlet.block_bytes);
  out.set_sample_rate(inlet.sample_rate);
  if (inlet.op.has_value()) out.set_transfer_op(static_cast<v1::TransferOp>(*inlet.op));
  return out;
}

absl::StatusOr<Inlet> FromProto(const v1::Inlet& inlet) {
  Inlet out{.name = inlet.name(),
            .datatype = inlet.datatype(),
            .block_bytes = inlet.block_bytes(),
            .sample_rate = inlet.sample_rate()};
  if (inlet.transfer_op() != v1::TRANSFER_OP_UNSPECIFIED) {
    TD_ASSIGN_OR_RETURN(
        out.op, FromEnum<dataplane::TransferOp>(inlet.transfer_op(), 3, "inlet.transfer_op"));
  }
  return out;
}

v1::StartReceiveRequest ToProto(const ReceiveSpec& spec) {
  v1::StartReceiveRequest out;
  *out.mutable_inlet() = ToProto(spec.inlet);
  *out.mutable_sink() = ToProto(spec.sink);
  WriteFields(spec.transfer, out);
  *out.mutable_wait() = ToDuration(spec.wait_ns);
  return out;
}

absl::StatusOr<ReceiveSpec> FromProto(const v1::StartReceiveRequest& request) {
  ReceiveSpec out{.transfer = {.target = request.inlet().name()}};
  TD_RETURN_IF_ERROR(ReadFields(request, out.transfer));
  TD_ASSIGN_OR_RETURN(out.inlet, FromProto(request.inlet()));
  TD_ASSIGN_OR_RETURN(out.sink, FromProto(request.sink()));
  if (request.has_wait()) out.wait_ns = FromDuration(request.wait());
  return out;
}

v1::Stage ToProto(const StageSpec& spec) {
  v1::Stage out;
  out.set_name(spec.name);
  for (const auto& [name, value] : spec.parameters) {
    std::visit(ParameterWriter{(*out.mutable_parameters())[name]}, value);
  }
  return out;
}

absl::StatusOr<StageSpec> FromProto(const v1::Stage& stage) {
  StageSpec out{.name = stage.name()};
  for (const auto& [name, parameter] : stage.parameters()) {
    TD_ASSIGN_OR_RETURN(out.parameters[name], FromProto(name, parameter));
  }
  return out;
}

void WriteField(const StageSpec& stage, const WireField& to) { to.Set().CopyFrom(ToProto(stage)); }

void WriteField(const std::vector<StageSpec>& stages, const WireField& to) {
  for (const StageSpec& stage : stages) to.Add().CopyFrom(ToProto(stage));
}

absl::Status ReadField(const ConstWireField& from, StageSpec& stage) {
  TD_ASSIGN_OR_RETURN(stage, FromProto(static_cast<const v1::Stage&>(from.Get())));
  return absl::OkStatus();
}

absl::Status ReadField(const ConstWireField& from, std::vector<StageSpec>& stages) {
  stages.clear();
  for (int i = 0; i < from.size(); ++i) {
    TD_ASSIGN_OR_RETURN(stages.emplace_back(),
                        FromProto(static_cast<const v1::Stage&>(from.At(i))));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::convert
