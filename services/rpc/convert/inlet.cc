#include "services/rpc/convert/inlet.h"

#include "dataplane/status_macros.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/message.h"
#include "services/rpc/convert/values/stage.h"
#include "services/rpc/convert/values/time.h"

namespace tapedeck::services::convert {

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

}  // namespace tapedeck::services::convert
