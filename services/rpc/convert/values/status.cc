#include "services/rpc/convert/values/status.h"

#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::convert {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const google::rpc::Status details = ToProto(status);
  return {static_cast<grpc::StatusCode>(details.code()), details.message(),
          details.details().empty() ? "" : details.SerializeAsString()};
}

absl::Status FromGrpc(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) details.Clear();
  // gRPC's own word counts.
  details.set_code(status.error_code());
  details.set_message(status.error_message());
  return FromProto(details);
}

}  // namespace tapedeck::services::convert
