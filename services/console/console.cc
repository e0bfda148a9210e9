#include "services/console/console.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/version.h"
#include "services/console/assets.h"
#include "services/console/http_limits.h"
#include "services/console/mapping.h"
#include "services/console/same_origin.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/identity/caller.h"
#include "services/rpc/identity/caller_tokens.h"
#include "services/rpc/identity/methods.h"
#include "services/rpc/identity/security.h"
#include "services/rpc/server/server.h"

namespace tapedeck::services::console {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kApi[] = "/api/";
constexpr char kAbout[] = "/api/console";
constexpr char kWorkersPrefix[] = "workers/";
// That a worker has, and the console passes calls to.
constexpr absl::string_view kWorkerServices[] = {
    "tapedeck.v1.PipelineService", "tapedeck.v1.NodeService", "tapedeck.v1.DoctorService"};
constexpr char kSignOfLife[] = ":\n\n";

HttpAnswer JsonAnswer(std::string json) {
  return {.content_type = kJson, .body = absl::StrCat(std::move(json), "\n")};
}

// Texts of errors are short and have room, then; a long one may find none.
void Fail(HttpServer& server, uint64_t number, const absl::Status& status) {
  const unsigned code = HttpStatusOf(status.code());
  const bool told = server.Answer(
      number,
      {.status = code, .content_type = kJson, .body = absl::StrCat(ErrorJson(status), "\n")});
  if (!told) server.Answer(number, {.status = code, .content_type = kJson, .body = "{}\n"});
}

std::string Event(absl::string_view name, absl::string_view data) {
  return absl::StrCat("event: ", name, "\ndata: ", data, "\n\n");
}

bool IsJson(absl::string_view content_type) {
  const absl::string_view type = content_type.substr(0, content_type.find(';'));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(type), kJson);
}

// A page that is not this server's sends no such content type unless it is allowed to, whatever its
// browser says of where it comes from.
absl::Status CheckKind(const HttpRequest& request, const MethodDescriptor& method) {
  if (request.method != "POST" || !IsJson(request.content_type)) {
    return absl::InvalidArgumentError(
        absl::StrCat(method.name(), ": POST with Content-Type: application/json"));
  }
  if (!method.server_streaming() || absl::StrContains(request.accept, "text/event-stream")) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(method.name(), " streams: POST with Accept: text/event-stream"));
}

HttpAnswer FileAnswer(absl::string_view path) {
  for (const Asset& asset : Assets()) {
    if (asset.path == path) {
      return {.content_type = std::string(asset.content_type), .lasting = asset.bytes};
    }
  }
  return {.status = 404, .content_type = "text/plain; charset=utf-8", .body = "not here\n"};
}

}  // namespace

struct Console::Place {
  client::Channel channel;
  std::vector<std::string> services;
  bool worker = false;
};

struct Console::Asked {
  const MethodDescriptor* method = nullptr;
  std::string who;  // empty without certificates
  CallSpec spec;
};

absl::StatusOr<std::unique_ptr<Console>> Console::Create(const Settings& settings, NodeFacts node,
                                                         const identity::Security& security,
                                                         server::Server& server) {
  std::unique_ptr<Console> console(new Console(std::move(node), security, server.caller_tokens()));
  if (settings.listen.empty()) return console;
  TD_RETURN_IF_ERROR(console->AddPlaces(settings, server));
  TD_ASSIGN_OR_RETURN(console->loop_, dataplane::EventLoop::Create("console"));
  console->loop_->RunAndWait(dataplane::LowerPriority);
  console->calls_ = std::make_unique<Calls>(*console->loop_);
  const auto& tls = security.tls();
  TD_ASSIGN_OR_RETURN(console->http_,
                      StartHttpServer({.listen = settings.listen,
                                       .tls = tls == nullptr ? identity::TlsFiles() : tls->files()},
                                      *console->loop_, *console));
  console->loop_->Post([raw = console.get()] { raw->SignsOfLife(); });
  dataplane::Log(dataplane::LogLevel::kInfo, "console", "port open",
                 {{"listen", settings.listen},
                  {"port", absl::StrCat(console->port())},
                  {"scheme", tls == nullptr ? "http" : "https"}});
  return console;
}

Console::Console(NodeFacts node, const identity::Security& security,
                 const identity::CallerTokens& caller_tokens)
    : node_(std::move(node)), security_(security), caller_tokens_(caller_tokens) {}

Console::~Console() {
  http_.reset();
  if (loop_ == nullptr) return;
  loop_->RunAndWait([this] { calls_->CancelAll(); });
  calls_.reset();
  loop_.reset();
}

absl::Status Console::AddPlaces(const Settings& settings, server::Server& server) {
  places_[""] = {.channel = {.address = "the node", .channel = server.OwnChannel()},
                 .services = server.services()};
  for (const std::string& text : settings.workers) {
    TD_ASSIGN_OR_RETURN(const Worker worker, ParseWorker(text));
    places_[absl::StrCat(kWorkersPrefix, worker.name, "/")] = {
        .channel = client::MakeChannel(worker.address, {}, {.tls = security_.tls()}),
        .services = {std::begin(kWorkerServices), std::end(kWorkerServices)},
        .worker = true};
    workers_.push_back(worker.name);
  }
  return absl::OkStatus();
}

void Console::OnRequest(HttpServer& server, uint64_t number, HttpRequest request) {
  const absl::Status status = Route(server, number, request);
  if (!status.ok()) Fail(server, number, status);
}

void Console::OnGone(uint64_t number) {
  streams_.erase(number);
  owners_.erase(number);
  calls_->Cancel(number);
}

absl::Status Console::Route(HttpServer& server, uint64_t number, HttpRequest& request) {
  TD_RETURN_IF_ERROR(
      CheckOrigin(request, security_.tls() == nullptr ? Scheme::kHttp : Scheme::kHttps));
  TD_ASSIGN_OR_RETURN(const identity::Caller caller, CallerOf(request));
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (reads && request.path == kAbout) {
    server.Answer(number, About(caller));
    return absl::OkStatus();
  }
  if (!absl::StartsWith(request.path, kApi)) {
    server.Answer(number, reads ? FileAnswer(request.path) : FileAnswer(""));
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(Asked asked, Ask(request, caller));
  return asked.method->server_streaming() ? StartStream(server, number, std::move(asked))
                                          : StartCall(server, number, std::move(asked));
}

absl::StatusOr<identity::Caller> Console::CallerOf(const HttpRequest& request) const {
  if (security_.tls() == nullptr) return identity::Caller();
  if (request.certificate.empty()) {
    return identity::AccessDenied({}, "a client certificate of the authority is needed");
  }
  return identity::CallerOfCertificate(request.certificate);
}

HttpAnswer Console::About(const identity::Caller& caller) const {
  const std::string names = absl::StrJoin(
      workers_, ",",
      [](std::string* out, const std::string& name) { absl::StrAppend(out, JsonText(name)); });
  return JsonAnswer(absl::StrCat(
      "{\"node\":", JsonText(node_.name), ",\"listen\":", JsonText(node_.listen), ",\"version\":",
      JsonText(kVersion), ",\"identity\":", JsonText(caller.who()), ",\"workers\":[", names, "]}"));
}

absl::StatusOr<Console::Asked> Console::Ask(const HttpRequest& request,
                                            const identity::Caller& caller) const {
  absl::string_view path(request.path);
  absl::ConsumePrefix(&path, kApi);
  const size_t name_end = path.find('/', sizeof(kWorkersPrefix) - 1);
  const bool of_worker = absl::StartsWith(path, kWorkersPrefix);
  const bool whole = of_worker && name_end != absl::string_view::npos;
  const std::string before(whole ? path.substr(0, name_end + 1) : "");
  const auto place = places_.find(before);
  if (place == places_.end()) return absl::NotFoundError("the console knows no such worker");
  const Place& to = place->second;
  TD_ASSIGN_OR_RETURN(const MethodDescriptor* method,
                      FindMethod(path.substr(before.size()), to.services));
  TD_RETURN_IF_ERROR(CheckKind(request, *method));
  Asked asked{
      .method = method,
      .who = caller.who(),
      .spec = {.channel = to.channel.channel,
               .node = to.channel.address,
               .method = absl::StrCat("/", method->service()->full_name(), "/", method->name()),
               .request = NewRequest(*method),
               .answer = NewAnswer(*method)}};
  TD_RETURN_IF_ERROR(ReadJson(request.body.empty() ? "{}" : request.body, *asked.spec.request));
  if (security_.gate() == nullptr) return asked;
  if (to.worker) {
    TD_RETURN_IF_ERROR(MayPassOn(*method, *asked.spec.request, caller));
    asked.spec.metadata[identity::kActingForKey] = caller.who();
  } else {
    asked.spec.metadata[identity::kCallerTokenKey] = caller_tokens_.Write(caller);
  }
  return asked;
}

// The worker asks its own policy, too, for whom this node says it calls.
absl::Status Console::MayPassOn(const MethodDescriptor& method,
                                const google::protobuf::Message& request,
                                const identity::Caller& caller) const {
  identity::Gate& gate = *security_.gate();
  TD_RETURN_IF_ERROR(gate.Count(caller.peer));
  const identity::Right* right = identity::FindRight(method.service()->full_name(), method.name());
  if (right == nullptr) return identity::AccessDenied({}, "no right is defined for this call");
  return gate.Admit(caller, *right, identity::ResourceOf(right->resource, request));
}

absl::Status Console::TakeShare(uint64_t number, const std::string& who) {
  if (who.empty()) return absl::OkStatus();
  const auto is_theirs = [&who](const auto& owned) { return owned.second == who; };
  if (std::ranges::count_if(owners_, is_theirs) >= kMaxOfOne) {
    return LimitReached(kMaxOfOne, "console calls of one identity",
                        absl::StrCat(who, " has ", kMaxOfOne, " calls and streams already"));
  }
  owners_[number] = who;
  return absl::OkStatus();
}

absl::Status Console::StartCall(HttpServer& server, uint64_t number, Asked asked) {
  if (calls_->size() - streams_.size() >= kMaxCalls) {
    return LimitReached(kMaxCalls, "console calls",
                        absl::StrCat("the console has ", kMaxCalls, " calls under way already"));
  }
  TD_RETURN_IF_ERROR(TakeShare(number, asked.who));
  asked.spec.limit = absl::Seconds(kCallLimitSeconds);
  asked.spec.on_answer = [&server, number](const google::protobuf::Message& answer) {
    if (server.Answer(number, JsonAnswer(WriteJson(answer)))) return;
    Fail(server, number,
         LimitReached(kMaxWaitingBytes, "console answers",
                      "unread answers fill the memory reserved for them"));
  };
  asked.spec.on_end = [this, &server, number](const absl::Status& status) {
    owners_.erase(number);
    const absl::Status without_answer = absl::InternalError("the call ended without an answer");
    Fail(server, number, status.ok() ? without_answer : status);
  };
  calls_->Start(number, std::move(asked.spec));
  return absl::OkStatus();
}

absl::Status Console::StartStream(HttpServer& server, uint64_t number, Asked asked) {
  if (streams_.size() >= kMaxStreams) {
    return LimitReached(kMaxStreams, "console streams",
                        absl::StrCat("the console has ", kMaxStreams, " streams already"));
  }
  TD_RETURN_IF_ERROR(TakeShare(number, asked.who));
  asked.spec.on_answer = [&server, number](const google::protobuf::Message& answer) {
    server.Send(number, absl::StrCat("data: ", WriteJson(answer), "\n\n"));
  };
  asked.spec.on_end = [this, &server, number](const absl::Status& status) {
    server.Send(number, status.ok() ? Event("end", "{}") : Event("error", ErrorJson(status)));
    server.End(number);
    streams_.erase(number);
    owners_.erase(number);
  };
  streams_[number] = &server;
  calls_->Start(number, std::move(asked.spec));
  server.Send(number, kSignOfLife);
  return absl::OkStatus();
}

void Console::SignsOfLife() {
  for (const auto& [number, server] : streams_) server->Send(number, kSignOfLife);
  loop_->PostAfter(kSignOfLifeNs, [this] { SignsOfLife(); });
}

}  // namespace tapedeck::services::console
