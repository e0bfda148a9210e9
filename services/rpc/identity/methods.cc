#include "services/rpc/identity/methods.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/const_init.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "services/model/words/resource_name.h"
#include "tapedeck/v1/right_option.pb.h"

namespace tapedeck::services::identity {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A name is shorter. What is longer is refused by the handler, and need not be kept until then.
constexpr size_t kMostOfAResource = 512;

constexpr absl::string_view kAllLuns = "luns/*";

// The template with what `value` says of each "{path}".
std::string Filled(absl::string_view form,
                   const std::function<std::string(absl::string_view path)>& value) {
  std::string out;
  while (!form.empty()) {
    const size_t begin = form.find('{');
    absl::StrAppend(&out, form.substr(0, begin));
    if (begin == absl::string_view::npos) break;
    const size_t end = form.find('}', begin);
    absl::StrAppend(&out, value(form.substr(begin + 1, end - begin - 1)));
    form.remove_prefix(end + 1);
  }
  return out;
}

std::string TextAt(absl::string_view path, const Message& request) {
  const Message* message = &request;
  std::vector<std::string> names = absl::StrSplit(path, '.');
  for (size_t i = 0; i < names.size(); ++i) {
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(names[i]);
    if (field == nullptr) return "";
    if (i + 1 == names.size()) {
      return message->GetReflection()->GetString(*message, field).substr(0, kMostOfAResource);
    }
    message = &message->GetReflection()->GetMessage(*message, field);
  }
  return "";
}

bool IsTextAt(absl::string_view path, const Descriptor& request) {
  const Descriptor* type = &request;
  const FieldDescriptor* field = nullptr;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(path, '.'))) {
    if (type != nullptr) field = type->FindFieldByName(name);
    if (type == nullptr || field == nullptr || field->is_repeated()) return false;
    type = field->message_type();
  }
  return field != nullptr && field->type() == FieldDescriptor::TYPE_STRING;
}

// `method` stays.
std::optional<Right> RightOf(absl::string_view method) {
  // Not of Tapedeck's protos.
  if (absl::StartsWith(method, "grpc.health.v1.Health/")) {
    return Right{method, Role::kViewer, Scope::kSome};
  }
  const auto* const found = google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrReplaceAll(method, {{"/", "."}}));
  if (found == nullptr) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> said =
      absl::StrSplit(found->options().GetExtension(v1::right), absl::MaxSplits(' ', 1));
  const auto role = model::EnumNamed<Role>(said.first);
  if (!role.ok()) return std::nullopt;
  const Scope scope = said.second.empty()       ? Scope::kSome
                      : said.second == kAllLuns ? Scope::kAll
                                                : Scope::kResource;
  return Right{method, *role, scope, scope == Scope::kResource ? said.second : ""};
}

}  // namespace

const Right* FindRight(absl::string_view method) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto& known = *new std::map<std::string, std::optional<Right>, std::less<>>;
  absl::MutexLock lock(&mutex);
  auto found = known.find(method);
  if (found == known.end()) {
    found = known.emplace(method, std::nullopt).first;
    found->second = RightOf(found->first);
  }
  return found->second.has_value() ? &*found->second : nullptr;
}

const Right* FindRight(absl::string_view service, absl::string_view name) {
  return FindRight(absl::StrCat(service, "/", name));
}

absl::Status CheckRights(absl::string_view service) {
  const auto* const found =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(std::string(service));
  if (found == nullptr) return absl::InternalError(absl::StrCat("no proto has ", service));
  for (int i = 0; i < found->method_count(); ++i) {
    const auto& method = *found->method(i);
    const Right* const right = FindRight(service, method.name());
    if (right != nullptr && MatchesRequest(right->resource, *method.input_type())) continue;
    return absl::InternalError(
        absl::StrCat(method.full_name(), " has no right: see right_option.proto"));
  }
  return absl::OkStatus();
}

std::string ResourceOf(absl::string_view form, const Message& request) {
  return Filled(form, [&](absl::string_view path) { return TextAt(path, request); });
}

bool MatchesRequest(absl::string_view form, const Descriptor& request) {
  bool fits = true;
  Filled(form, [&](absl::string_view path) {
    fits = fits && IsTextAt(path, request);
    return std::string();
  });
  return fits;
}

bool IsResource(absl::string_view name) {
  return CheckLunName(name).ok() || CheckChannelName(name).ok() || CheckRecordingName(name).ok();
}

}  // namespace tapedeck::services::identity
