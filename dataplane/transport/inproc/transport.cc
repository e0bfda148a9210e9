#include "dataplane/transport/inproc/transport.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/transport/inproc/connection.h"

namespace tapedeck::dataplane::inproc {
namespace {

class InprocOffer final : public Offer {
 public:
  InprocOffer(std::shared_ptr<Fabric> fabric, std::shared_ptr<End> end)
      : fabric_(std::move(fabric)),
        end_(std::move(end)),
        endpoint_(InprocEndpoint{end_->wire_id}) {}
  ~InprocOffer() override { GiveUp(absl::CancelledError("offer withdrawn")); }

  const Endpoint& endpoint() const override { return endpoint_; }

  void Connect(const Endpoint& peer, int64_t deadline_ns, ConnectionEvents* events,
               std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)> done) override {
    done_ = std::move(done);
    end_->events = events;
    const auto* endpoint = std::get_if<InprocEndpoint>(&peer);
    if (endpoint == nullptr) {
      return Fail(absl::InvalidArgumentError(
          absl::StrCat("rail ", end_->rail, ": the peer's endpoint is not of this process")));
    }
    end_->executor->PostAt(deadline_ns, lifetime_.Guard([this] {
      Fail(absl::DeadlineExceededError(
          absl::StrCat("rail ", end_->rail, ": no connection before the deadline")));
    }));
    if (fabric_->rail(end_->rail) != RailState::kUp) return;
    fabric_->Meet(endpoint->id, end_, lifetime_.Guard([this] { Met(); }));
  }

 private:
  void Met() {
    if (done_ == nullptr) return;
    connected_ = true;
    // Inline: this is a posted call, and the peer's first operation is queued behind it.
    std::exchange(done_, nullptr)(std::make_unique<InprocConnection>(end_));
  }

  void Fail(const absl::Status& cause) {
    if (done_ == nullptr) return;
    GiveUp(cause);
    end_->executor->Post([done = std::exchange(done_, nullptr), cause] { done(cause); });
  }

  // Two offers may have met before this one is told, and the peer then has a connection to an end
  // that is nobody's: that end is closed, so that the peer hears of it and nothing arrives here.
  void GiveUp(const absl::Status& cause) {
    fabric_->Forget(end_->wire_id);
    if (connected_ || end_->wire == nullptr) return;
    end_->events = nullptr;
    end_->Close(cause);
  }

  const std::shared_ptr<Fabric> fabric_;
  const std::shared_ptr<End> end_;
  const Endpoint endpoint_;
  std::function<void(absl::StatusOr<std::unique_ptr<Connection>>)> done_;
  bool connected_ = false;
  Lifetime lifetime_;
};

class InprocDomain final : public Domain {
 public:
  InprocDomain(std::string rail, const std::vector<Executor*>& pollers,
               std::shared_ptr<Fabric> fabric, const MemoryWindow& window, RemoteAccess access)
      : rail_(std::move(rail)),
        pollers_(pollers),
        fabric_(std::move(fabric)),
        window_(window),
        access_(access) {
    if (access_ == RemoteAccess::kNone) return;
    name_ = {.address = fabric_->NewId() << 40,
             .bytes = window.bytes.size(),
             .key = static_cast<uint32_t>(fabric_->NewId())};
  }

  RemoteWindow remote_window() const override { return name_; }

  absl::StatusOr<std::unique_ptr<Offer>> NewOffer(size_t poller) override {
    auto end = std::make_shared<End>();
    end->executor = pollers_[poller];
    end->fabric = fabric_;
    end->rail = rail_;
    end->wire_id = fabric_->NewId();
    end->window = window_.bytes;
    end->access = access_;
    end->name = name_;
    return std::make_unique<InprocOffer>(fabric_, std::move(end));
  }

 private:
  const std::string rail_;
  const std::vector<Executor*> pollers_;
  const std::shared_ptr<Fabric> fabric_;
  const MemoryWindow window_;
  const RemoteAccess access_;
  RemoteWindow name_;
};

class InprocTransport final : public Transport {
 public:
  InprocTransport(const std::string& rail, std::vector<Executor*> pollers,
                  std::shared_ptr<Fabric> fabric)
      : Transport(std::move(pollers)),
        rail_{.name = rail, .transport = "inproc", .address = "process"},
        fabric_(std::move(fabric)) {}

  const RailDescription& rail() const override { return rail_; }
  absl::StatusOr<std::unique_ptr<Domain>> OpenDomain(const MemoryWindow& window,
                                                     RemoteAccess access) override {
    return std::make_unique<InprocDomain>(rail_.name, pollers(), fabric_, window, access);
  }

 private:
  const RailDescription rail_;
  const std::shared_ptr<Fabric> fabric_;
};

}  // namespace

std::unique_ptr<Transport> Create(const std::string& rail, std::vector<Executor*> pollers,
                                  std::shared_ptr<Fabric> fabric) {
  return std::make_unique<InprocTransport>(rail, std::move(pollers), std::move(fabric));
}

}  // namespace tapedeck::dataplane::inproc
