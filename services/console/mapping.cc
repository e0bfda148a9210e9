#include "services/console/mapping.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wrappers.pb.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
#include "services/base/errors.h"

namespace tapedeck::services::console {
namespace {

namespace util = google::protobuf::util;

constexpr absl::string_view kNodeServices[] = {
    "tapedeck.v1.CatalogService", "tapedeck.v1.RecorderService", "tapedeck.v1.NodeService",
    "tapedeck.v1.DoctorService",  "tapedeck.v1.TraceService",    "tapedeck.v1.ViewService"};

constexpr absl::string_view kWorkerServices[] = {
    "tapedeck.v1.PipelineService", "tapedeck.v1.NodeService", "tapedeck.v1.DoctorService"};

constexpr std::pair<absl::StatusCode, unsigned> kHttpStatuses[] = {
    {absl::StatusCode::kOk, 200},
    {absl::StatusCode::kInvalidArgument, 400},
    {absl::StatusCode::kFailedPrecondition, 400},
    {absl::StatusCode::kOutOfRange, 400},
    {absl::StatusCode::kUnauthenticated, 401},
    {absl::StatusCode::kPermissionDenied, 403},
    {absl::StatusCode::kNotFound, 404},
    {absl::StatusCode::kAlreadyExists, 409},
    {absl::StatusCode::kAborted, 409},
    {absl::StatusCode::kResourceExhausted, 429},
    {absl::StatusCode::kCancelled, 499},
    {absl::StatusCode::kUnimplemented, 501},
    {absl::StatusCode::kUnavailable, 503},
    {absl::StatusCode::kDeadlineExceeded, 504}};

// Of a name in an error's text.
constexpr size_t kShownCallBytes = 128;

std::unique_ptr<Message> New(const google::protobuf::Descriptor& type) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

}  // namespace

absl::Span<const absl::string_view> NodeServices() { return kNodeServices; }
absl::Span<const absl::string_view> WorkerServices() { return kWorkerServices; }

absl::StatusOr<const MethodDescriptor*> FindMethod(absl::string_view path,
                                                   absl::Span<const absl::string_view> services) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(path, absl::MaxSplits('/', 1));
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  if (std::ranges::find(services, parts.first) != services.end()) {
    const auto* service = pool->FindServiceByName(std::string(parts.first));
    const auto* method =
        service == nullptr ? nullptr : service->FindMethodByName(std::string(parts.second));
    if (method != nullptr && !method->client_streaming()) return method;
  }
  return absl::NotFoundError(
      absl::StrCat("there is no call ", dataplane::Printable(path, kShownCallBytes), " here"));
}

std::unique_ptr<Message> NewRequest(const MethodDescriptor& method) {
  return New(*method.input_type());
}

std::unique_ptr<Message> NewAnswer(const MethodDescriptor& method) {
  return New(*method.output_type());
}

absl::Status ReadJson(absl::string_view json, Message& message) {
  const auto status = util::JsonStringToMessage({json.data(), json.size()}, &message);
  if (status.ok()) return absl::OkStatus();
  const std::string why = status.message().as_string();
  return ArgumentInvalid("request", absl::StrCat("not a ", message.GetDescriptor()->name(),
                                                 " in JSON: ", dataplane::Printable(why, 512)));
}

absl::StatusOr<std::string> WriteJson(const Message& message) {
  util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = util::MessageToJsonString(message, &json, options);
  if (status.ok()) return json;
  return absl::InternalError(
      absl::StrCat("the answer cannot be JSON: ", status.message().as_string()));
}

std::string JsonText(absl::string_view text) {
  google::protobuf::StringValue value;
  value.set_value(dataplane::Printable(text));
  return WriteJson(value).value_or("\"\"");
}

std::string ErrorJson(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  std::vector<std::string> metadata;
  if (reason.has_value()) {
    for (const auto& [key, value] : reason->metadata) {
      metadata.push_back(absl::StrCat(JsonText(key), ":", JsonText(value)));
    }
  }
  return absl::StrCat("{\"code\":", JsonText(absl::StatusCodeToString(status.code())),
                      ",\"message\":", JsonText(status.message()),
                      ",\"reason\":", JsonText(reason.has_value() ? reason->reason : ""),
                      ",\"metadata\":{", absl::StrJoin(metadata, ","), "}}");
}

unsigned HttpStatusOf(absl::StatusCode code) {
  for (const auto& [known, status] : kHttpStatuses) {
    if (known == code) return status;
  }
  return 500;
}

}  // namespace tapedeck::services::console
