#include "services/rpc/convert/session.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/time.h"
#include "services/rpc/convert/values/transfer.h"

namespace tapedeck::services::convert {
namespace {

// Inside a session a field out of range is the peer's fault.
template <typename Ours, typename Wire>
absl::StatusOr<Ours> PeerEnum(Wire value, int last, absl::string_view message,
                              absl::string_view field) {
  auto out = FromEnum<Ours>(value, last, field);
  if (!out.ok()) return ProtocolError(message, field, "is not set or not known");
  return out;
}

v1::Open ToProto(const session::Open& open) {
  v1::Open out;
  out.set_version(open.version);
  out.set_direction(static_cast<v1::Direction>(open.direction));
  out.set_channel(open.channel);
  out.set_recording(open.recording);
  out.set_recorder(open.recorder);
  out.set_request_id(open.request_id);
  out.set_traceparent(open.traceparent);
  out.set_tracestate(open.tracestate);
  if (open.op.has_value()) out.set_transfer_op(static_cast<v1::TransferOp>(*open.op));
  out.set_slots(open.slots);
  out.set_slot_bytes(open.slot_bytes);
  out.set_expected_blocks(open.expected_blocks);
  ToWireMap(open.labels, *out.mutable_labels());
  if (open.origin != model::Origin()) WriteFields(open.origin, *out.mutable_origin());
  if (open.group.has_value()) WriteFields(*open.group, *out.mutable_group());
  if (open.part.has_value()) WriteFields(*open.part, *out.mutable_part());
  if (open.playhead != model::Playhead()) *out.mutable_playhead() = convert::ToProto(open.playhead);
  if (open.resume.has_value()) {
    out.mutable_resume()->set_recording(open.resume->recording);
    out.mutable_resume()->set_token(open.resume->token);
    out.mutable_resume()->set_first_block(open.resume->first_block);
  }
  if (open.original.has_value()) {
    out.mutable_original()->set_recording(open.original->recording);
    out.mutable_original()->set_uid(open.original->uid);
    *out.mutable_original()->mutable_open_time() =
        convert::ToTimestamp(open.original->open_time_ns);
    for (const std::string& name : open.original->earlier) {
      out.mutable_original()->add_earlier(name);
    }
  }
  return out;
}

absl::StatusOr<session::Message> FromProto(const v1::Open& open) {
  session::Open out{.version = open.version(),
                    .channel = open.channel(),
                    .recording = open.recording(),
                    .recorder = open.recorder(),
                    .request_id = open.request_id(),
                    .traceparent = open.traceparent(),
                    .tracestate = open.tracestate(),
                    .slots = open.slots(),
                    .slot_bytes = open.slot_bytes(),
                    .expected_blocks = open.expected_blocks(),
                    .labels = FromWireMap(open.labels()),
                    .playhead = convert::FromProto(open.playhead())};
  if (open.has_resume()) {
    out.resume = session::Resume{.recording = open.resume().recording(),
                                 .token = open.resume().token(),
                                 .first_block = open.resume().first_block()};
  }
  if (open.has_original()) {
    out.original = session::Original{
        .recording = open.original().recording(),
        .uid = open.original().uid(),
        .open_time_ns = convert::FromTimestamp(open.original().open_time()),
        .earlier = {open.original().earlier().begin(), open.original().earlier().end()}};
  }
  TD_RETURN_IF_ERROR(ReadFields(open.origin(), out.origin));
  if (open.has_group()) TD_RETURN_IF_ERROR(ReadFields(open.group(), out.group.emplace()));
  if (open.has_part()) TD_RETURN_IF_ERROR(ReadFields(open.part(), out.part.emplace()));
  // Another version may have other directions and ops: the session answers VERSION_MISMATCH.
  if (out.version != session::kProtocolVersion) return out;
  TD_ASSIGN_OR_RETURN(out.direction,
                      PeerEnum<session::Direction>(open.direction(), 2, "Open", "direction"));
  if (open.transfer_op() != v1::TRANSFER_OP_UNSPECIFIED) {
    TD_ASSIGN_OR_RETURN(
        out.op, PeerEnum<session::TransferOp>(open.transfer_op(), 3, "Open", "transfer_op"));
  }
  return out;
}

v1::Accept ToProto(const session::Accept& accept) {
  v1::Accept out;
  out.set_session(accept.session);
  out.set_recording(accept.recording);
  out.set_datatype(accept.datatype);
  out.set_sample_rate(accept.sample_rate);
  out.set_transfer_op(static_cast<v1::TransferOp>(accept.op));
  out.set_commit_level(static_cast<v1::CommitLevel>(accept.commit));
  out.set_block_bytes(accept.block_bytes);
  out.set_slots(accept.slots);
  out.set_blocks(accept.blocks);
  out.set_wire_limit_bytes_per_s(accept.wire_limit_bytes_per_s);
  for (const session::RailName& rail : accept.rails) {
    v1::Rail& wire = *out.add_rails();
    wire.set_name(rail.name);
    wire.set_transport(rail.transport);
    wire.set_address(rail.address);
  }
  ToWireMap(accept.labels, *out.mutable_labels());
  out.set_first_block(accept.first_block);
  out.set_resume_token(accept.resume_token);
  out.set_next_block(accept.next_block);
  out.set_verifier(accept.verifier);
  out.set_missing_blocks(accept.missing_blocks);
  return out;
}

absl::StatusOr<session::Message> FromProto(const v1::Accept& accept) {
  session::Accept out{.session = accept.session(),
                      .recording = accept.recording(),
                      .datatype = accept.datatype(),
                      .sample_rate = accept.sample_rate(),
                      .block_bytes = accept.block_bytes(),
                      .slots = accept.slots(),
                      .blocks = accept.blocks(),
                      .first_block = accept.first_block(),
                      .wire_limit_bytes_per_s = accept.wire_limit_bytes_per_s(),
                      .labels = FromWireMap(accept.labels()),
                      .resume_token = accept.resume_token(),
                      .next_block = accept.next_block(),
                      .verifier = accept.verifier(),
                      .missing_blocks = accept.missing_blocks()};
  TD_ASSIGN_OR_RETURN(
      out.op, PeerEnum<session::TransferOp>(accept.transfer_op(), 3, "Accept", "transfer_op"));
  TD_ASSIGN_OR_RETURN(out.commit, PeerEnum<session::CommitLevel>(accept.commit_level(), 3, "Accept",
                                                                 "commit_level"));
  for (const v1::Rail& rail : accept.rails()) {
    out.rails.push_back({rail.name(), rail.transport(), rail.address()});
  }
  return out;
}

absl::StatusOr<v1::RailOffer> ToProto(const session::RailOffer& offer) {
  v1::RailOffer out;
  out.set_rail(offer.rail);
  out.set_connection(offer.connection);
  out.set_generation(offer.generation);
  TD_RETURN_IF_ERROR(SetEndpoint(offer.endpoint, out));
  const dataplane::RemoteWindow& window = offer.window;
  if (window.bytes != 0) {
    out.mutable_region()->set_address(window.address);
    out.mutable_region()->set_bytes(window.bytes);
    out.mutable_region()->set_rkey(window.key);
  }
  return out;
}

absl::StatusOr<session::Message> FromProto(const v1::RailOffer& offer) {
  session::RailOffer out{.rail = offer.rail(),
                         .connection = offer.connection(),
                         .generation = offer.generation(),
                         .window = {.address = offer.region().address(),
                                    .bytes = offer.region().bytes(),
                                    .key = offer.region().rkey()}};
  TD_ASSIGN_OR_RETURN(out.endpoint, EndpointOf(offer));
  return out;
}

v1::Progress ToProto(const session::Progress& progress) {
  v1::Progress out;
  out.set_verifier(progress.verifier);
  out.set_phase(progress.phase);
  out.set_received(progress.watermarks.received);
  out.set_written(progress.watermarks.written);
  out.set_durable(progress.watermarks.durable);
  out.set_blocks(progress.blocks);
  out.set_bytes(progress.bytes);
  WriteFields(progress.counters, *out.mutable_counters());
  for (const session::RailProgress& rail : progress.rails) {
    WriteFields(rail, *out.add_rails());
  }
  if (progress.clock != flight::ClockReading()) {
    out.mutable_clock()->set_sent_ns(progress.clock.sent_ns);
    out.mutable_clock()->set_heard_sent_ns(progress.clock.heard_sent_ns);
    out.mutable_clock()->set_heard_ns(progress.clock.heard_ns);
  }
  Write(progress.stage_times, *out.mutable_stage_times());
  if (progress.memory_ready.has_value()) out.set_memory_ready(*progress.memory_ready);
  out.mutable_captures()->Assign(progress.captures.begin(), progress.captures.end());
  return out;
}

session::Progress FromProto(const v1::Progress& progress) {
  session::Progress out{.verifier = progress.verifier(),
                        .watermarks = {.received = progress.received(),
                                       .written = progress.written(),
                                       .durable = progress.durable()},
                        .blocks = progress.blocks(),
                        .bytes = progress.bytes(),
                        .counters = ReadSound<dataplane::Counters>(progress.counters()),
                        .phase = progress.phase(),
                        .clock = {.sent_ns = progress.clock().sent_ns(),
                                  .heard_sent_ns = progress.clock().heard_sent_ns(),
                                  .heard_ns = progress.clock().heard_ns()},
                        .stage_times = Read(progress.stage_times()),
                        .captures = {progress.captures().begin(), progress.captures().end()}};
  if (progress.has_memory_ready()) out.memory_ready = progress.memory_ready();
  for (const v1::RailProgress& rail : progress.rails()) {
    out.rails.push_back(ReadSound<session::RailProgress>(rail));
  }
  return out;
}

v1::Finished ToProto(const session::Finished& finished) {
  v1::Finished out;
  if (!finished.cause.ok()) *out.mutable_error() = convert::ToProto(finished.cause);
  *out.mutable_progress() = ToProto(finished.progress);
  return out;
}

session::Finished FromProto(const v1::Finished& finished) {
  return {.cause = convert::FromProto(finished.error()),
          .progress = FromProto(finished.progress())};
}

// The arms that both directions have. A message of the other direction's arm is refused.
template <typename Wire>
struct MessageWriter {
  Wire& out;

  absl::Status operator()(const session::Open& open) const {
    if constexpr (std::is_same_v<Wire, v1::TransferRequest>) {
      *out.mutable_open() = ToProto(open);
      return absl::OkStatus();
    } else {
      return absl::InvalidArgumentError("session: only the opening end sends Open");
    }
  }
  absl::Status operator()(const session::Accept& accept) const {
    if constexpr (std::is_same_v<Wire, v1::TransferResponse>) {
      *out.mutable_accept() = ToProto(accept);
      return absl::OkStatus();
    } else {
      return absl::InvalidArgumentError("session: only the serving end sends Accept");
    }
  }
  absl::Status operator()(const session::RailOffer& offer) const {
    TD_ASSIGN_OR_RETURN(*out.mutable_rail_offer(), ToProto(offer));
    return absl::OkStatus();
  }
  absl::Status operator()(const session::EndOfStream& end) const {
    out.mutable_end_of_stream()->set_blocks(end.blocks);
    out.mutable_end_of_stream()->set_cause(end.cause);
    return absl::OkStatus();
  }
  absl::Status operator()(const session::Progress& progress) const {
    *out.mutable_progress() = ToProto(progress);
    return absl::OkStatus();
  }
  absl::Status operator()(const session::Finished& finished) const {
    *out.mutable_finished() = ToProto(finished);
    return absl::OkStatus();
  }
};

template <typename Wire>
absl::StatusOr<Wire> Write(const session::Message& message) {
  Wire out;
  TD_RETURN_IF_ERROR(std::visit(MessageWriter<Wire>{out}, message));
  return out;
}

// The arms that both directions have.
template <typename Wire>
absl::StatusOr<session::Message> ReadShared(const Wire& message) {
  switch (message.message_case()) {
    case Wire::kRailOffer:
      return FromProto(message.rail_offer());
    case Wire::kEndOfStream:
      return session::EndOfStream{.blocks = message.end_of_stream().blocks(),
                                  .cause = message.end_of_stream().cause()};
    case Wire::kProgress:
      return FromProto(message.progress());
    case Wire::kFinished:
      return FromProto(message.finished());
    default:
      return ProtocolError("message", "", "is empty or of a kind this version does not know");
  }
}

}  // namespace

absl::StatusOr<v1::TransferRequest> ToTransferRequest(const session::Message& message) {
  return Write<v1::TransferRequest>(message);
}

absl::StatusOr<v1::TransferResponse> ToTransferResponse(const session::Message& message) {
  return Write<v1::TransferResponse>(message);
}

absl::StatusOr<session::Message> FromProto(const v1::TransferRequest& request) {
  return request.has_open() ? FromProto(request.open()) : ReadShared(request);
}

absl::StatusOr<session::Message> FromProto(const v1::TransferResponse& response) {
  return response.has_accept() ? FromProto(response.accept()) : ReadShared(response);
}

}  // namespace tapedeck::services::convert
