#include "dataplane/transport/verbs/transport.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/connection.h"
#include "dataplane/transport/verbs/port/port.h"
#include "dataplane/transport/verbs/registration.h"

namespace tapedeck::dataplane::verbs {
namespace {

class VerbsDomain final : public Domain {
 public:
  VerbsDomain(const Rail& rail, std::unique_ptr<Registration> registration)
      : rail_(rail), registration_(std::move(registration)) {}

  RemoteWindow remote_window() const override { return registration_->remote_window(); }

  absl::StatusOr<std::unique_ptr<Offer>> NewOffer(size_t /*poller*/) override {
    return NewVerbsOffer(rail_, *registration_);
  }

 private:
  const Rail rail_;
  const std::unique_ptr<Registration> registration_;
};

// All queue pairs of a port live on one poller, with the port's events.
class VerbsTransport final : public Transport {
 public:
  VerbsTransport(EventLoop& poller, RailDescription rail, bool listen, std::unique_ptr<Port> port)
      : Transport({&poller}),
        poller_(poller),
        rail_(std::move(rail)),
        listen_(listen),
        port_(std::move(port)) {}

  // The port's events are taken on the poller.
  ~VerbsTransport() override {
    poller_.RunAndWait([this] { port_.reset(); });
  }

  absl::Status Watch() {
    absl::Status status;
    poller_.RunAndWait([&] { status = port_->Watch(poller_); });
    return status;
  }

  const RailDescription& rail() const override { return rail_; }

  absl::StatusOr<std::unique_ptr<Domain>> OpenDomain(const MemoryWindow& window,
                                                     RemoteAccess access) override {
    absl::StatusOr<std::unique_ptr<Registration>> registration =
        Registration::Create(*port_, window, access);
    if (!registration.ok()) return Prefixed(port_->name().prefix(), registration.status());
    return std::make_unique<VerbsDomain>(Rail{&poller_, port_.get(), listen_},
                                         *std::move(registration));
  }

 private:
  EventLoop& poller_;
  const RailDescription rail_;
  const bool listen_;
  std::unique_ptr<Port> port_;
};

void LogPath(const RailDescription& rail, const Port& port) {
  Log(LogLevel::kInfo, "transport/verbs", "port opened",
      {{"rail", rail.name},
       {"device", rail.device},
       {"path_mtu", absl::StrCat(port.mtu_bytes())},
       {"wire_limit_mb_per_s", absl::StrCat(rail.wire_limit_bytes_per_s / 1'000'000)}});
  const std::string warning = PathMtuWarning(port.mtu_bytes());
  if (!warning.empty()) {
    Log(LogLevel::kWarning, "transport/verbs", warning, {{"rail", rail.name}});
  }
}

}  // namespace

absl::Status Usable() { return AnyPort(); }

std::string LoopbackAddress() { return FirstAddress(); }

absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& spec, const Pollers& pollers) {
  absl::StatusOr<std::unique_ptr<Port>> port = Port::Open(spec.name, spec.address);
  if (!port.ok()) return Prefixed(absl::StrCat("rail ", spec.name, ": "), port.status());
  RailDescription rail{
      .name = spec.name,
      .transport = "verbs",
      .address = spec.address,
      .device = absl::StrCat((*port)->name().device, "/", (*port)->name().port),
      .wire_limit_bytes_per_s = WireLimitBytesPerS((*port)->bits_per_s(), (*port)->mtu_bytes())};
  LogPath(rail, **port);
  auto transport = std::make_unique<VerbsTransport>(*pollers.front(), std::move(rail), spec.listen,
                                                    *std::move(port));
  TD_RETURN_IF_ERROR(transport->Watch());
  return transport;
}

}  // namespace tapedeck::dataplane::verbs
