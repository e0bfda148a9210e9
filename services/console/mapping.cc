#include "services/console/mapping.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "dataplane/printable.h"
#include "services/base/errors.h"
#include "services/console/message_json.h"
#include "services/site/json.h"

namespace tapedeck::services::console {
namespace {

namespace util = google::protobuf::util;
using tapectl::Json;

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

// Of the objects and lists of a request.
constexpr int kMostDepth = 64;

// A page that shows it by mistake finds no markup.
std::string Unmarked(const Json& json) {
  return absl::StrReplaceAll(tapectl::Dump(json), {{"<", "\\u003c"}, {">", "\\u003e"}});
}

std::unique_ptr<Message> New(const google::protobuf::Descriptor& type) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

}  // namespace

absl::StatusOr<const MethodDescriptor*> FindMethod(absl::string_view path,
                                                   absl::Span<const std::string> services) {
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
  const auto invalid = [&](absl::string_view why) {
    return ArgumentInvalid("request", absl::StrCat("not a ", message.GetDescriptor()->name(),
                                                   " in JSON: ", dataplane::Printable(why, 512)));
  };
  bool too_deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, const Json&) {
    too_deep |= depth > kMostDepth;
    return depth <= kMostDepth;
  };
  Json request = Json::parse(json, shallow, /*allow_exceptions=*/false);
  if (too_deep) return invalid(absl::StrCat("deeper than ", kMostDepth));
  if (request.is_discarded()) return invalid("a syntax error");
  const Json as_protobuf = AsProtobufHasIt(std::move(request), *message.GetDescriptor());
  const auto status = util::JsonStringToMessage(tapectl::Dump(as_protobuf), &message);
  return status.ok() ? absl::OkStatus() : invalid(status.message().as_string());
}

std::string WriteJson(const Message& message) { return Unmarked(JsonOf(message)); }

std::string JsonText(absl::string_view text) { return Unmarked(dataplane::Printable(text)); }

std::string ErrorJson(const absl::Status& status) { return Unmarked(tapectl::ToJson(status)); }

unsigned HttpStatusOf(absl::StatusCode code) {
  for (const auto& [known, status] : kHttpStatuses) {
    if (known == code) return status;
  }
  return 500;
}

}  // namespace tapedeck::services::console
