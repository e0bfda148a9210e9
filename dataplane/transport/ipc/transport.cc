#include "dataplane/transport/ipc/transport.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/ipc/offer.h"
#include "dataplane/transport/ipc/opener.h"
#include "dataplane/transport/ipc/own_windows.h"
#include "dataplane/transport/tcp/transport.h"

namespace tapedeck::dataplane::ipc {
namespace {

template <typename T>
absl::Status FillRandom(T& value) {
  if (getrandom(&value, sizeof(value), 0) == ssize_t{sizeof(value)}) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("getrandom: ", std::strerror(errno)));
}

// What all of a rail share. Outlives its domains and offers.
struct Rail {
  std::string name;
  Pollers pollers;
  PeerCopies* copies = nullptr;
  std::unique_ptr<Opener> opener;
};

class IpcDomain final : public Domain {
 public:
  static absl::StatusOr<std::unique_ptr<Domain>> Create(const Rail& rail,
                                                        const MemoryWindow& window,
                                                        RemoteAccess access,
                                                        std::unique_ptr<Domain> wire) {
    std::unique_ptr<IpcDomain> domain(new IpcDomain(rail, window, std::move(wire)));
    if (access == RemoteAccess::kNone) return domain;
    IpcEndpoint& endpoint = domain->endpoint_;
    uint64_t address = 0;
    TD_RETURN_IF_ERROR(FillRandom(address));
    TD_RETURN_IF_ERROR(FillRandom(endpoint.window.key));
    TD_RETURN_IF_ERROR(FillRandom(endpoint.name));
    endpoint.access = access;
    endpoint.window.address = address >> 16 << 12;
    endpoint.window.bytes = window.bytes.size();
    if (window.share != nullptr) endpoint.share = *window.share;
    OwnWindows::Get().Add(endpoint.name, std::make_shared<OwnWindow>(window, access));
    return domain;
  }
  ~IpcDomain() override {
    if (endpoint_.access != RemoteAccess::kNone) OwnWindows::Get().Remove(endpoint_.name);
  }

  RemoteWindow remote_window() const override { return endpoint_.window; }

  absl::StatusOr<std::unique_ptr<Offer>> NewOffer(size_t poller) override {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<Offer> wire, wire_->NewOffer(poller));
    return std::make_unique<IpcOffer>(
        IpcOffer::Parts{.poller = rail_.pollers[poller],
                        .opener = rail_.opener.get(),
                        .rail = rail_.name,
                        .local = window_,
                        .endpoint = endpoint_,
                        .open = OpenWith(*rail_.copies, *rail_.opener, window_, endpoint_),
                        .wire = std::move(wire)});
  }

 private:
  IpcDomain(const Rail& rail, const MemoryWindow& window, std::unique_ptr<Domain> wire)
      : rail_(rail), window_(window), wire_(std::move(wire)) {}

  // To a window of this process, or of another. What the peer says is held against what it is.
  static absl::StatusOr<std::unique_ptr<PeerPath>> PathTo(const IpcEndpoint& peer,
                                                          const IpcEndpoint& self,
                                                          PeerCopies& copies,
                                                          const MemoryWindow& local) {
    std::shared_ptr<OwnWindow> own = OwnWindows::Get().Find(peer.name);
    if (own == nullptr) return copies.Open(peer.share, local);
    if (peer.name == self.name || peer.access != own->access()) {
      return absl::PermissionDeniedError(
          "the peer names memory of this process that it may not open in this way");
    }
    TD_ASSIGN_OR_RETURN(auto path, copies.Join(own->window(), local));
    return OwnWindow::Guard(std::move(own), std::move(path));
  }

  static OpenPath OpenWith(PeerCopies& copies, Opener& opener, const MemoryWindow& local,
                           const IpcEndpoint& self) {
    return [&copies, &opener, local,
            self](const IpcEndpoint& peer) -> absl::StatusOr<std::shared_ptr<PeerPath>> {
      auto path = PathTo(peer, self, copies, local);
      TD_RETURN_IF_ERROR(path.status());
      if ((*path)->bytes() >= peer.window.bytes) {
        std::shared_ptr<PeerPath> opened = *std::move(path);
        PeerPath* const raw = opened.get();
        // Moved on, so that the thread's hold on it is the last one.
        return std::shared_ptr<PeerPath>(raw,
                                         [&opener, opened = std::move(opened)](PeerPath*) mutable {
                                           opener.LetGo(std::move(opened));
                                         });
      }
      return absl::PermissionDeniedError(absl::StrCat("the peer's memory has ", (*path)->bytes(),
                                                      " bytes, its window ", peer.window.bytes));
    };
  }

  const Rail& rail_;
  const MemoryWindow window_;
  const std::unique_ptr<Domain> wire_;
  IpcEndpoint endpoint_;  // without the wire
};

class IpcTransport final : public Transport {
 public:
  IpcTransport(std::unique_ptr<Transport> wire, Rail rail)
      : Transport(wire->pollers()),
        wire_(std::move(wire)),
        description_(wire_->rail()),
        own_(std::move(rail)) {
    description_.transport = kIpcTransport;
  }

  // What the opener has told pollers may still lie there, with memory that it lets go.
  ~IpcTransport() override {
    own_.opener->Stop();
    for (EventLoop* poller : own_.pollers) poller->RunAndWait([] {});
  }

  const RailDescription& rail() const override { return description_; }

  // Over TCP nothing is open to the peer.
  absl::StatusOr<std::unique_ptr<Domain>> OpenDomain(const MemoryWindow& window,
                                                     RemoteAccess access) override {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<Domain> wire,
                        wire_->OpenDomain(MemoryWindow(), RemoteAccess::kNone));
    return IpcDomain::Create(own_, window, access, std::move(wire));
  }

 private:
  const std::unique_ptr<Transport> wire_;
  RailDescription description_;
  const Rail own_;  // goes before the wire: what it opens is for offers there
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& spec, const Pollers& pollers) {
  if (spec.copies == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "rail ", spec.name,
        ": kind ipc connects workers; this program does not copy from other processes"));
  }
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Transport> wire, tcp::Create(spec, pollers));
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Opener> opener, Opener::Create(spec.name));
  return std::make_unique<IpcTransport>(std::move(wire), Rail{.name = spec.name,
                                                              .pollers = pollers,
                                                              .copies = spec.copies,
                                                              .opener = std::move(opener)});
}

}  // namespace tapedeck::dataplane::ipc
