#include "services/rpc/client/catalog_client.h"

#include <grpcpp/channel.h>

#include <utility>

#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"
#include "services/rpc/client/calls/believed.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/catalog.h"
#include "tapedeck/v1/catalog.grpc.pb.h"

namespace tapedeck::services::client {

namespace {

// Converts a page's messages one by one.
template <typename Wire, typename Ours>
absl::Status Append(const std::string& node, const google::protobuf::RepeatedPtrField<Wire>& page,
                    std::vector<Ours>& out) {
  for (const Wire& wire : page) {
    TD_ASSIGN_OR_RETURN(Ours item, Believed(node, convert::FromProto(wire)));
    out.push_back(std::move(item));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Lun> CatalogClient::CreateLun(const Lun& lun) {
  TD_ASSIGN_OR_RETURN(const auto ids, ParseName(lun.name, {"luns"}));
  v1::CreateLunRequest request;
  request.set_lun_id(ids[0]);
  *request.mutable_lun() = convert::ToProto(lun);
  request.set_request_id(NewRequestId());
  v1::Lun response;
  TD_RETURN_IF_ERROR(Call("CreateLun", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Lun> CatalogClient::GetLun(const std::string& name) {
  v1::GetLunRequest request;
  request.set_name(name);
  v1::Lun response;
  TD_RETURN_IF_ERROR(Call("GetLun", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<std::vector<Lun>> CatalogClient::ListLuns() {
  std::vector<Lun> out;
  TD_RETURN_IF_ERROR((ForEachPage<v1::ListLunsRequest, v1::ListLunsResponse>(
      node_.address, {},
      [&](const auto& request, auto& response) { return Call("ListLuns", request, response); },
      [&](const auto& response) { return Append(node_.address, response.luns(), out); })));
  return out;
}

absl::StatusOr<Lun> CatalogClient::UpdateLun(const LunUpdate& update) {
  v1::UpdateLunRequest request = convert::ToProto(update);
  request.set_request_id(NewRequestId());
  v1::Lun response;
  TD_RETURN_IF_ERROR(Call("UpdateLun", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::Status CatalogClient::DeleteLun(const std::string& name, bool force) {
  v1::DeleteLunRequest request;
  request.set_name(name);
  request.set_force(force);
  request.set_request_id(NewRequestId());
  return Call("DeleteLun", request);
}

absl::StatusOr<Lun> CatalogClient::AttachLun(const LunAttachment& asked, absl::Duration timeout) {
  v1::AttachLunRequest request;
  for (const std::string& member : asked.members) request.add_members(member);
  if (!asked.name.empty()) {
    TD_ASSIGN_OR_RETURN(const auto ids, ParseName(asked.name, {"luns"}));
    request.set_lun_id(ids[0]);
  }
  request.set_as_new(asked.as_new);
  request.set_request_id(NewRequestId());
  v1::Lun response;
  TD_RETURN_IF_ERROR(Call("AttachLun", request, response, timeout));
  return Believed(node_.address, convert::FromProto(response));
}

absl::Status CatalogClient::DetachLun(const std::string& name) {
  v1::DetachLunRequest request;
  request.set_name(name);
  request.set_request_id(NewRequestId());
  return Call("DetachLun", request);
}

absl::StatusOr<services::Channel> CatalogClient::CreateChannel(const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const auto ids, ParseName(channel.name, {"luns", "channels"}));
  v1::CreateChannelRequest request;
  request.set_parent("luns/" + ids[0]);
  request.set_channel_id(ids[1]);
  *request.mutable_channel() = convert::ToProto(channel);
  request.set_request_id(NewRequestId());
  v1::Channel response;
  TD_RETURN_IF_ERROR(Call("CreateChannel", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<services::Channel> CatalogClient::GetChannel(const std::string& name) {
  v1::GetChannelRequest request;
  request.set_name(name);
  v1::Channel response;
  TD_RETURN_IF_ERROR(Call("GetChannel", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<std::vector<services::Channel>> CatalogClient::ListChannels(
    const std::string& parent) {
  v1::ListChannelsRequest request;
  request.set_parent(parent);
  std::vector<services::Channel> out;
  TD_RETURN_IF_ERROR((ForEachPage<v1::ListChannelsRequest, v1::ListChannelsResponse>(
      node_.address, request,
      [&](const auto& request, auto& response) { return Call("ListChannels", request, response); },
      [&](const auto& response) { return Append(node_.address, response.channels(), out); })));
  return out;
}

absl::StatusOr<services::Channel> CatalogClient::UpdateChannel(const ChannelUpdate& update) {
  v1::UpdateChannelRequest request = convert::ToProto(update);
  request.set_request_id(NewRequestId());
  v1::Channel response;
  TD_RETURN_IF_ERROR(Call("UpdateChannel", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::Status CatalogClient::DeleteChannel(const std::string& name) {
  v1::DeleteChannelRequest request;
  request.set_name(name);
  request.set_request_id(NewRequestId());
  return Call("DeleteChannel", request);
}

absl::StatusOr<Recording> CatalogClient::GetRecording(const std::string& name) {
  v1::GetRecordingRequest request;
  request.set_name(name);
  v1::Recording response;
  TD_RETURN_IF_ERROR(Call("GetRecording", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<Recording> CatalogClient::UpdateRecording(const RecordingUpdate& update) {
  const v1::UpdateRecordingRequest request = convert::ToProto(update);
  v1::Recording response;
  TD_RETURN_IF_ERROR(Call("UpdateRecording", request, response));
  return Believed(node_.address, convert::FromProto(response));
}

absl::StatusOr<std::vector<Recording>> CatalogClient::ListRecordings(const std::string& parent,
                                                                     int most) {
  v1::ListRecordingsRequest request;
  request.set_parent(parent);
  request.set_page_size(most);
  std::vector<Recording> out;
  if (most > 0) {
    v1::ListRecordingsResponse response;
    TD_RETURN_IF_ERROR(Call("ListRecordings", request, response));
    TD_RETURN_IF_ERROR(Append(node_.address, response.recordings(), out));
    return out;
  }
  TD_RETURN_IF_ERROR((ForEachPage<v1::ListRecordingsRequest, v1::ListRecordingsResponse>(
      node_.address, request,
      [&](const auto& request, auto& response) {
        return Call("ListRecordings", request, response);
      },
      [&](const auto& response) { return Append(node_.address, response.recordings(), out); })));
  return out;
}

absl::Status CatalogClient::DeleteRecording(const std::string& name, const std::string& etag) {
  v1::DeleteRecordingRequest request;
  request.set_name(name);
  request.set_etag(etag);
  request.set_request_id(NewRequestId());
  return Call("DeleteRecording", request);
}

absl::Status CatalogClient::VerifyRecording(
    const std::string& name, absl::Duration timeout,
    const std::function<void(const VerifyProgress&)>& report) {
  v1::VerifyRecordingRequest request;
  request.set_name(name);
  return RunCall(node_, timeout, &gate_, [&](grpc::ClientContext* context) {
    const auto reader =
        v1::CatalogService::NewStub(node_.channel)->VerifyRecording(context, request);
    v1::VerifyRecordingResponse response;
    bool done = false;
    while (reader->Read(&response)) {
      report(convert::FromProto(response));
      done = response.done();
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok() || done) return status;
    return grpc::Status(grpc::StatusCode::DATA_LOSS, "VerifyRecording ended before it was done");
  });
}

}  // namespace tapedeck::services::client
