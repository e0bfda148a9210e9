#include <errno.h>

#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/api/answer.h"
#include "gpu_worker/api/deck_parts.h"
#include "services/base/errors.h"
#include "services/base/process/daemon.h"
#include "services/rpc/grpc_process.h"
#include "services/rpc/identity/tls/tls.h"
#include "services/rpc/storage_client/dialer.h"

namespace tapedeck {

namespace api = gpu_worker::api;

namespace {

constexpr unsigned kMostConnections = 8;

// Of gRPC, once in a process.
absl::Status StartGrpcOnce(bool tls) {
  static absl::Mutex mutex(absl::kConstInit);
  static bool started = false;
  absl::MutexLock lock(&mutex);
  if (tls) services::identity::RefuseOldTls();
  if (started) return absl::OkStatus();
  services::RouteGrpcLog();
  TD_RETURN_IF_ERROR(services::StartGrpc());
  started = true;
  return absl::OkStatus();
}

absl::StatusOr<services::client::Credentials> CredentialsOf(const DeckOptions& options) {
  const bool some = !options.ca.empty() || !options.cert.empty() || !options.key.empty();
  const bool all = !options.ca.empty() && !options.cert.empty() && !options.key.empty();
  if (!some) return services::client::Credentials();
  if (!all) return services::ArgumentInvalid("cert", "give ca, cert and key together");
  TD_ASSIGN_OR_RETURN(auto tls, services::identity::Tls::Create(
                                    {.cert = options.cert, .key = options.key, .ca = options.ca}));
  return services::client::Credentials{.tls = std::move(tls)};
}

absl::Status CheckOptions(const DeckOptions& options) {
  if (options.rails.empty()) {
    return services::ArgumentInvalid("rails", "a deck needs a rail, e.g. r0=tcp:10.0.0.2");
  }
  if (options.connections_per_rail == 0 || options.connections_per_rail > kMostConnections) {
    return services::ArgumentInvalid(
        "connections_per_rail", absl::StrCat(options.connections_per_rail,
                                             " connections: a rail has 1 to ", kMostConnections));
  }
  return absl::OkStatus();
}

std::string NameOf(const DeckOptions& options) {
  return options.name.empty()
             ? absl::StrCat(services::HostName(), "/", program_invocation_short_name)
             : options.name;
}

template <typename Parts>
absl::Status Make(const DeckOptions& options, Parts& parts) {
  TD_RETURN_IF_ERROR(CheckOptions(options));
  TD_RETURN_IF_ERROR(StartGrpcOnce(!options.cert.empty()));
  TD_ASSIGN_OR_RETURN(const auto credentials, CredentialsOf(options));
  TD_ASSIGN_OR_RETURN(parts.device, gpu_worker::device::Choose(options.device));
  TD_ASSIGN_OR_RETURN(parts.rails, dataplane::RailSet::Create(options.rails, {}));
  TD_ASSIGN_OR_RETURN(parts.loop, dataplane::EventLoop::Create("deck"));
  TD_ASSIGN_OR_RETURN(parts.proxy, api::Proxy::Create(options.wait == Wait::kEconomy
                                                          ? api::ProxyMode::kEconomy
                                                          : api::ProxyMode::kPerformance));
  parts.dialer = services::storage_client::MakeStorageDialer(credentials);
  parts.ladder = std::make_unique<gpu_worker::pipeline::MemoryLadder>(*parts.device.device,
                                                                      parts.rails->transports());
  parts.environment = {.executor = parts.loop.get(),
                       .device = parts.device.device.get(),
                       .ladder = parts.ladder.get(),
                       .rails = parts.rails->transports(),
                       .connections_per_rail = options.connections_per_rail,
                       .proxy = parts.proxy.get(),
                       .name = NameOf(options)};
  return absl::OkStatus();
}

}  // namespace

Result<Deck> Deck::Open(const DeckOptions& options) {
  auto parts = std::make_shared<Parts>();
  const absl::Status made = Make(options, *parts);
  if (!made.ok()) return api::ToStatus(made);
  return Deck(std::move(parts));
}

Deck::Deck(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
Deck::~Deck() = default;
Deck::Deck(Deck&&) noexcept = default;
Deck& Deck::operator=(Deck&&) noexcept = default;

std::string Deck::device() const {
  return absl::StrCat(parts_->device.device->info().description, " (", parts_->device.why, ")");
}

}  // namespace tapedeck
