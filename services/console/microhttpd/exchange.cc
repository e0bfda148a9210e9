#include "services/console/microhttpd/exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "services/console/http_limits.h"
#include "services/console/microhttpd/tls.h"

namespace tapedeck::services::console {
namespace {

constexpr char kPlainText[] = "text/plain; charset=utf-8";
constexpr char kEvents[] = "text/event-stream";

// The library hands over that much of a stream at a time.
constexpr size_t kPartBytes = 16 << 10;

// Of every answer. The page is of this server alone, runs no script that stands in a text, and is
// in nobody's frame.
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"}};

void AddHeaders(MHD_Response* response, const std::string& content_type) {
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type.c_str());
  for (const auto& [name, value] : kHeaders) MHD_add_response_header(response, name, value);
}

std::string Header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

// Empty: it is taken. The body of a request says beforehand how long it is.
HttpAnswer RefusalOf(MHD_Connection* connection, absl::string_view method) {
  const auto refusal = [](unsigned status, const char* why) {
    return HttpAnswer{.status = status, .content_type = kPlainText, .body = why};
  };
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD &&
      method != MHD_HTTP_METHOD_POST) {
    return refusal(MHD_HTTP_METHOD_NOT_ALLOWED, "GET, HEAD or POST\n");
  }
  const std::string length = Header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
  uint64_t bytes = 0;
  if (!Header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING).empty() ||
      (method == MHD_HTTP_METHOD_POST && length.empty())) {
    return refusal(MHD_HTTP_LENGTH_REQUIRED, "Content-Length is missing\n");
  }
  if (!length.empty() && (!absl::SimpleAtoi(length, &bytes) || bytes > kMaxBodyBytes)) {
    return refusal(MHD_HTTP_CONTENT_TOO_LARGE, "a request has 64 KiB at most\n");
  }
  return {};
}

}  // namespace

void Exchange::ReadHeaders(const char* method, const char* path) {
  HttpAnswer refusal = RefusalOf(connection_, method);
  if (!refusal.content_type.empty()) return Answer(std::move(refusal));
  request_ = {.method = method,
              .path = path,
              .host = Header(connection_, MHD_HTTP_HEADER_HOST),
              .origin = Header(connection_, MHD_HTTP_HEADER_ORIGIN),
              .fetch_site = Header(connection_, "Sec-Fetch-Site"),
              .content_type = Header(connection_, MHD_HTTP_HEADER_CONTENT_TYPE),
              .accept = Header(connection_, MHD_HTTP_HEADER_ACCEPT),
              .certificate = PeerCertificate(connection_)};
}

bool Exchange::AddBody(absl::string_view part) {
  if (request_.body.size() + part.size() > kMaxBodyBytes) return false;
  request_.body.append(part.data(), part.size());
  return true;
}

void Exchange::Answer(HttpAnswer answer) {
  if (answered_) return;
  answered_ = true;
  body_ = std::make_shared<const std::string>(std::move(answer.body));
  answer_ = std::move(answer);
  Resume();
}

bool Exchange::Send(std::string part) {
  if (parts_.size() + part.size() > kMaxQueuedBytes) return false;
  answered_ = streams_ = true;
  parts_ += part;
  Resume();
  return true;
}

void Exchange::End() {
  ended_ = true;
  Resume();
}

void Exchange::Suspend() {
  suspended_ = true;
  MHD_suspend_connection(connection_);
}

void Exchange::Resume() {
  if (std::exchange(suspended_, false)) MHD_resume_connection(connection_);
}

Response Exchange::WholeResponse() {
  using Body = std::shared_ptr<const std::string>;
  const bool lasting = answer_.lasting.data() != nullptr;
  const absl::string_view bytes = lasting ? answer_.lasting : absl::string_view(*body_);
  auto body = std::make_unique<Body>(body_);
  // The library only reads them.
  Response response(MHD_create_response_from_buffer_with_free_callback_cls(
                        bytes.size(), const_cast<char*>(bytes.data()),
                        [](void* own) { delete static_cast<Body*>(own); }, body.get()),
                    MHD_destroy_response);
  if (response == nullptr) return response;
  body.release();  // NOLINT(bugprone-unused-return-value): the response deletes it
  AddHeaders(response.get(), answer_.content_type);
  return response;
}

MHD_Result Exchange::Queue() {
  if (!streams_) {
    const Response response = WholeResponse();
    return response == nullptr ? MHD_NO
                               : MHD_queue_response(connection_, answer_.status, response.get());
  }
  // The library ends the response before the request is completed, and with that this object.
  const Response response(
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kPartBytes, &Read, this, nullptr),
      MHD_destroy_response);
  if (response == nullptr) return MHD_NO;
  AddHeaders(response.get(), kEvents);
  return MHD_queue_response(connection_, MHD_HTTP_OK, response.get());
}

ssize_t Exchange::Read(void* own, uint64_t /*at*/, char* into, size_t most) {
  auto* const exchange = static_cast<Exchange*>(own);
  const size_t bytes = std::min(most, exchange->parts_.size());
  if (bytes == 0 && exchange->ended_) return MHD_CONTENT_READER_END_OF_STREAM;
  if (bytes == 0) {
    exchange->Suspend();
    return 0;
  }
  std::memcpy(into, exchange->parts_.data(), bytes);
  exchange->parts_.erase(0, bytes);
  return static_cast<ssize_t>(bytes);
}

}  // namespace tapedeck::services::console
