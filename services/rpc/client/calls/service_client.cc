#include "services/rpc/client/calls/service_client.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/message.h>
#include <grpcpp/channel.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/impl/rpc_method.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/unary_call.h"

namespace tapedeck::services::client {
namespace {

using google::protobuf::Message;

std::unique_ptr<Message> New(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

}  // namespace

absl::Status ServiceClient::CallWith(absl::string_view method,
                                     const std::function<void(Message&)>& write,
                                     const std::function<absl::Status(const Message&)>& read) {
  const auto* found = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrCat(service_, ".", method));
  if (found == nullptr) {
    return absl::InternalError(absl::StrCat(service_, " has no method ", method));
  }
  const auto request = New(found->input_type());
  const auto response = New(found->output_type());
  write(*request);
  TD_RETURN_IF_ERROR(Call(method, *request, *response));
  return read(*response);
}

absl::Status ServiceClient::Call(absl::string_view method, const Message& request,
                                 Message& response, const CallTime& time) {
  const std::string path = absl::StrCat("/", service_, "/", method);
  const grpc::internal::RpcMethod called(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  return RunCall(node_, time, &gate_, [&](grpc::ClientContext* context) {
    return grpc::internal::BlockingUnaryCall(node_.channel.get(), called, context, request,
                                             &response);
  });
}

absl::Status ServiceClient::Call(absl::string_view method, const Message& request) {
  google::protobuf::Empty response;
  return Call(method, request, response);
}

}  // namespace tapedeck::services::client
