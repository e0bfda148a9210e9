// What a caller of the console says: the path of a call and its request in JSON, and where the
// request comes from.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

#include "services/console/mapping.h"
#include "services/console/same_origin.h"
#include "tests/fuzz/input.h"

namespace console = tapedeck::services::console;
using tapedeck::fuzz::Require;

namespace {

// Of a storage node.
const std::string kServices[] = {"tapedeck.v1.CatalogService", "tapedeck.v1.RecorderService",
                                 "tapedeck.v1.NodeService",    "tapedeck.v1.DoctorService",
                                 "tapedeck.v1.TraceService",   "tapedeck.v1.ViewService",
                                 "tapedeck.v1.SessionService"};

// Lines, of which the last is the rest.
absl::string_view Line(absl::string_view& text) {
  const size_t end = text.find('\n');
  const absl::string_view line = text.substr(0, end);
  text.remove_prefix(end == absl::string_view::npos ? text.size() : end + 1);
  return line;
}

void TryOrigin(absl::string_view host, absl::string_view origin) {
  const console::HttpRequest request{.host = std::string(host), .origin = std::string(origin)};
  const bool taken = console::CheckOrigin(request, console::Scheme::kHttp).ok();
  if (!taken) return;
  Require(!console::HostIn(host).empty());
  Require(origin.empty() || origin.size() == host.size() + sizeof("http://") - 1);
}

void TryJson(const google::protobuf::MethodDescriptor& method, absl::string_view json) {
  const auto request = console::NewRequest(method);
  const absl::Status status = console::ReadJson(json, *request);
  if (!status.ok()) {
    // What is told of it is JSON in one line.
    const std::string said = console::ErrorJson(status);
    Require(said.find('\n') == std::string::npos && said.find('<') == std::string::npos);
    return;
  }
  const auto written = console::WriteJson(*request);
  Require(written.find('\n') == std::string::npos && written.find('<') == std::string::npos);
  const auto again = console::NewRequest(method);
  Require(console::ReadJson(written, *again).ok());
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tapedeck::fuzz::Input input(data, size);
  absl::string_view text = input.Text();
  const absl::string_view host = Line(text);
  TryOrigin(host, Line(text));
  const auto method = console::FindMethod(Line(text), kServices);
  if (method.ok()) {
    TryJson(**method, text);
  } else {
    Require(console::ErrorJson(method.status()).find('\n') == std::string::npos);
  }
  return 0;
}
