#include "services/convert/catalog.h"

#include "dataplane/status_macros.h"
#include "services/convert/fields.h"
#include "services/convert/recorder.h"
#include "services/convert/time.h"

namespace tapedeck::services::convert {
namespace {

// Not set by whoever asks for a LUN.
absl::StatusOr<LunState> LunStateOf(v1::LunState state) {
  if (state == v1::LUN_STATE_UNSPECIFIED) return LunState::kReady;
  return FromEnum<LunState>(state, 2, "lun.state");
}

}  // namespace

absl::StatusOr<dataplane::CommitLevel> CommitLevelOf(v1::CommitLevel level) {
  if (level == v1::COMMIT_LEVEL_UNSPECIFIED) return dataplane::CommitLevel::kDurable;
  return FromEnum<dataplane::CommitLevel>(level, 3, "commit_level");
}

absl::StatusOr<FullPolicy> FullPolicyOf(v1::FullPolicy policy) {
  if (policy == v1::FULL_POLICY_UNSPECIFIED) return FullPolicy::kStop;
  return FromEnum<FullPolicy>(policy, 2, "lun.full_policy");
}

v1::Lun ToProto(const Lun& lun) {
  v1::Lun out;
  out.set_name(lun.name);
  out.set_uid(lun.uid);
  out.set_store(static_cast<v1::StoreKind>(lun.store));
  for (const std::string& member : lun.members) out.add_members(member);
  out.set_capacity_bytes(lun.capacity_bytes);
  out.set_used_bytes(lun.used_bytes);
  out.set_recordings(lun.recordings);
  if (lun.create_time_ns != 0) *out.mutable_create_time() = ToTimestamp(lun.create_time_ns);
  out.set_full_policy(static_cast<v1::FullPolicy>(lun.full_policy));
  if (lun.max_age_ns != 0) *out.mutable_max_age() = ToDuration(lun.max_age_ns);
  out.set_max_fill_percent(lun.max_fill_percent);
  out.set_prewrite_files(lun.prewrite_files);
  out.set_prewrite_bytes(lun.prewrite_bytes);
  out.set_state(static_cast<v1::LunState>(lun.state));
  out.set_cause(lun.cause);
  return out;
}

absl::StatusOr<Lun> FromProto(const v1::Lun& lun) {
  TD_ASSIGN_OR_RETURN(const StoreKind store, FromEnum<StoreKind>(lun.store(), 4, "lun.store"));
  TD_ASSIGN_OR_RETURN(const FullPolicy full_policy, FullPolicyOf(lun.full_policy()));
  TD_ASSIGN_OR_RETURN(const LunState state, LunStateOf(lun.state()));
  return Lun{.name = lun.name(),
             .uid = lun.uid(),
             .store = store,
             .members = {lun.members().begin(), lun.members().end()},
             .capacity_bytes = lun.capacity_bytes(),
             .used_bytes = lun.used_bytes(),
             .recordings = lun.recordings(),
             .create_time_ns = FromTimestamp(lun.create_time()),
             .full_policy = full_policy,
             .max_age_ns = FromDuration(lun.max_age()),
             .max_fill_percent = lun.max_fill_percent(),
             .prewrite_files = lun.prewrite_files(),
             .prewrite_bytes = lun.prewrite_bytes(),
             .state = state,
             .cause = lun.cause()};
}

v1::Channel ToProto(const Channel& channel) {
  v1::Channel out;
  out.set_name(channel.name);
  out.set_block_bytes(channel.block_bytes);
  out.set_datatype(channel.datatype);
  out.set_sample_rate(channel.sample_rate);
  if (channel.op_chosen) out.set_transfer_op(static_cast<v1::TransferOp>(channel.op));
  out.set_commit_level(static_cast<v1::CommitLevel>(channel.commit));
  if (channel.create_time_ns != 0) {
    *out.mutable_create_time() = ToTimestamp(channel.create_time_ns);
  }
  if (channel.pre_trigger_ns != 0) *out.mutable_pre_trigger() = ToDuration(channel.pre_trigger_ns);
  if (channel.post_trigger_ns != 0) {
    *out.mutable_post_trigger() = ToDuration(channel.post_trigger_ns);
  }
  out.set_segment_bytes(channel.segment_bytes);
  return out;
}

absl::StatusOr<Channel> FromProto(const v1::Channel& channel) {
  Channel out{.name = channel.name(),
              .block_bytes = channel.block_bytes(),
              .datatype = channel.datatype(),
              .sample_rate = channel.sample_rate(),
              .op_chosen = channel.transfer_op() != v1::TRANSFER_OP_UNSPECIFIED,
              .create_time_ns = FromTimestamp(channel.create_time()),
              .pre_trigger_ns = FromDuration(channel.pre_trigger()),
              .post_trigger_ns = FromDuration(channel.post_trigger()),
              .segment_bytes = channel.segment_bytes()};
  if (out.op_chosen) {
    TD_ASSIGN_OR_RETURN(out.op,
                        FromEnum<dataplane::TransferOp>(channel.transfer_op(), 3, "transfer_op"));
  }
  TD_ASSIGN_OR_RETURN(out.commit, CommitLevelOf(channel.commit_level()));
  return out;
}

v1::Recording ToProto(const Recording& recording) {
  v1::Recording out;
  out.set_name(recording.name);
  out.set_uid(recording.uid);
  out.set_state(static_cast<v1::RecordingState>(recording.state));
  out.set_blocks(recording.blocks);
  out.set_bytes(recording.bytes);
  out.set_missing_blocks(recording.missing_blocks);
  out.set_durable_watermark(recording.durable_watermark);
  out.set_block_bytes(recording.block_bytes);
  out.set_datatype(recording.datatype);
  out.set_sample_rate(recording.sample_rate);
  out.set_commit_level(static_cast<v1::CommitLevel>(recording.commit));
  if (recording.start_time_ns != 0) {
    *out.mutable_start_time() = ToTimestamp(recording.start_time_ns);
  }
  if (recording.end_time_ns != 0) *out.mutable_end_time() = ToTimestamp(recording.end_time_ns);
  out.set_cause(recording.cause);
  out.set_kept(recording.kept);
  out.set_stream(recording.stream);
  out.set_segment(recording.segment);
  ToWireMap(recording.labels, *out.mutable_labels());
  for (const Annotation& annotation : recording.annotations) {
    *out.add_annotations() = ToProto(annotation);
  }
  return out;
}

absl::StatusOr<Recording> FromProto(const v1::Recording& recording) {
  Recording out{.name = recording.name(),
                .uid = recording.uid(),
                .blocks = recording.blocks(),
                .bytes = recording.bytes(),
                .missing_blocks = recording.missing_blocks(),
                .durable_watermark = recording.durable_watermark(),
                .block_bytes = recording.block_bytes(),
                .datatype = recording.datatype(),
                .sample_rate = recording.sample_rate(),
                .start_time_ns = FromTimestamp(recording.start_time()),
                .end_time_ns = FromTimestamp(recording.end_time()),
                .cause = recording.cause(),
                .labels = FromWireMap(recording.labels()),
                .kept = recording.kept(),
                .stream = recording.stream(),
                .segment = recording.segment()};
  TD_ASSIGN_OR_RETURN(out.state, FromEnum<RecordingState>(recording.state(), 4, "recording.state"));
  TD_ASSIGN_OR_RETURN(out.commit, CommitLevelOf(recording.commit_level()));
  for (const v1::Annotation& annotation : recording.annotations()) {
    out.annotations.push_back(FromProto(annotation));
  }
  return out;
}

v1::DamagedBlock ToProto(const DamagedBlock& block) {
  v1::DamagedBlock out;
  out.set_sequence(block.sequence);
  out.set_kind(static_cast<v1::DamageKind>(block.kind));
  out.set_detail(block.detail);
  for (const ByteRange& range : block.ranges) {
    v1::ByteRange& bad = *out.add_ranges();
    bad.set_offset(range.offset);
    bad.set_bytes(range.bytes);
  }
  out.set_stray_crc32c(block.stray_crc32c);
  return out;
}

DamagedBlock FromProto(const v1::DamagedBlock& block) {
  DamagedBlock out{
      .sequence = block.sequence(), .detail = block.detail(), .stray_crc32c = block.stray_crc32c()};
  // A kind of a later version is shown as none.
  if (block.kind() >= v1::DAMAGE_KIND_ROT && block.kind() <= v1::DAMAGE_KIND_IO) {
    out.kind = static_cast<DamageKind>(block.kind());
  }
  for (const v1::ByteRange& range : block.ranges()) {
    out.ranges.push_back({range.offset(), range.bytes()});
  }
  return out;
}

v1::VerifyRecordingResponse ToProto(const VerifyProgress& progress) {
  v1::VerifyRecordingResponse out;
  out.set_checked_blocks(progress.checked_blocks);
  out.set_blocks(progress.blocks);
  for (const DamagedBlock& block : progress.damaged) *out.add_damaged() = ToProto(block);
  return out;
}

VerifyProgress FromProto(const v1::VerifyRecordingResponse& response) {
  VerifyProgress out{.checked_blocks = response.checked_blocks(), .blocks = response.blocks()};
  for (const v1::DamagedBlock& block : response.damaged()) {
    out.damaged.push_back(FromProto(block));
  }
  return out;
}

}  // namespace tapedeck::services::convert
