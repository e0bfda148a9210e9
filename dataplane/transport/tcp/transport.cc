#include "dataplane/transport/tcp/transport.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/tcp/kernel_tls.h"
#include "dataplane/transport/tcp/listener.h"
#include "dataplane/transport/tcp/offer.h"

namespace tapedeck::dataplane::tcp {
namespace {

template <typename T>
T Random() {
  T value{};
  // Requests up to 256 bytes are never short, getrandom(2).
  [[maybe_unused]] const ssize_t got = getrandom(&value, sizeof(value), 0);
  return value;
}

// INTERNAL where the kernel has none: a secret that can be guessed is none.
absl::Status FillRandom(std::span<uint8_t> bytes) {
  if (getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size())) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("getrandom: ", std::strerror(errno)));
}

class TcpDomain final : public Domain {
 public:
  TcpDomain(Pollers pollers, Listener* listener, RailDescription rail, const MemoryWindow& window,
            RemoteAccess access)
      : pollers_(std::move(pollers)),
        listener_(listener),
        rail_(std::move(rail)),
        window_{.bytes = window.bytes, .access = access} {
    if (access == RemoteAccess::kNone) return;
    // Neither the address nor the key tells the peer anything about this process.
    window_.name = {.address = Random<uint64_t>() >> 16 << 12,
                    .bytes = window.bytes.size(),
                    .key = Random<uint32_t>()};
  }

  RemoteWindow remote_window() const override { return window_.name; }

  absl::StatusOr<std::unique_ptr<Offer>> NewOffer(size_t poller) override {
    const bool listens = listener_ != nullptr;
    Credentials own;
    if (listens || rail_.tls) TD_RETURN_IF_ERROR(FillRandom(own.token));
    if (listens && rail_.tls) TD_RETURN_IF_ERROR(FillRandom(own.secret));
    return NewTcpOffer(RailPort{pollers_[poller], listener_, rail_}, window_, own);
  }

 private:
  const Pollers pollers_;
  Listener* const listener_;  // null on a rail that connects
  const RailDescription rail_;
  ExposedWindow window_;
};

class TcpTransport final : public Transport {
 public:
  TcpTransport(const Pollers& loops, RailDescription rail)
      : Transport({loops.begin(), loops.end()}), loops_(loops), rail_(std::move(rail)) {}

  // The listener lives on the first poller, so it is opened and closed there. Offers of the others
  // that are being withdrawn go before it.
  ~TcpTransport() override {
    for (EventLoop* loop : loops_) loop->RunAndWait([] {});
    loops_.front()->RunAndWait([this] { listener_.reset(); });
  }

  absl::Status OpenListener(uint16_t port) {
    absl::Status status;
    EventLoop& first = *loops_.front();
    first.RunAndWait([&] {
      auto listener = Listener::Create(first, rail_.name, rail_.address, port);
      if (!listener.ok()) {
        status = absl::Status(
            listener.status().code(),
            absl::StrCat("rail ", rail_.name, ": ", std::string(listener.status().message())));
        return;
      }
      listener_ = *std::move(listener);
      rail_.port = listener_->port();
    });
    return status;
  }

  const RailDescription& rail() const override { return rail_; }

  absl::StatusOr<std::unique_ptr<Domain>> OpenDomain(const MemoryWindow& window,
                                                     RemoteAccess access) override {
    if (!window.host_accessible) {
      return absl::UnimplementedError(absl::StrCat(
          "rail ", rail_.name, ": TCP cannot reach device memory; stage it through host memory"));
    }
    return std::make_unique<TcpDomain>(loops_, listener_.get(), rail_, window, access);
  }

 private:
  const Pollers loops_;
  RailDescription rail_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

absl::Status Usable() { return absl::OkStatus(); }

absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& spec, const Pollers& pollers) {
  if (spec.tls) TD_RETURN_IF_ERROR(TryKernelTls(spec.name, spec.address));
  auto transport = std::make_unique<TcpTransport>(
      pollers,
      RailDescription{
          .name = spec.name, .transport = spec.kind, .address = spec.address, .tls = spec.tls});
  if (spec.listen) {
    TD_RETURN_IF_ERROR(transport->OpenListener(spec.port));
  } else {
    // An address that is not on this host is found here, not at the first session.
    TD_RETURN_IF_ERROR(Listen(spec.address, 0).status());
  }
  return transport;
}

}  // namespace tapedeck::dataplane::tcp
