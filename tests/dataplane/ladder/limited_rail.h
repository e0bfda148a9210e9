// A rail that registers only so many bytes at a time, as a limit of locked memory makes it, or that
// refuses some windows.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/transport/inproc/transport.h"

namespace tapedeck::dataplane::ladder {

// Shared by the rails that it limits. Any thread may give bytes back.
struct LockedMemory {
  size_t limit = SIZE_MAX;
  std::atomic<size_t> used = 0;
};

class LimitedRail final : public Transport {
 public:
  LimitedRail(std::unique_ptr<Transport> inner, LockedMemory& locked)
      : Transport(inner->pollers()), inner_(std::move(inner)), locked_(locked) {}

  const RailDescription& rail() const override { return inner_->rail(); }
  absl::StatusOr<std::unique_ptr<Domain>> OpenDomain(const MemoryWindow& window,
                                                     RemoteAccess access) override {
    ++domains;
    if (refuse) {
      if (const absl::Status status = refuse(window); !status.ok()) return status;
    }
    const size_t bytes = window.bytes.size();
    if (bytes > locked_.limit - locked_.used) {
      absl::Status status = absl::ResourceExhaustedError(
          absl::StrCat("ibv_reg_mr: ", bytes, " bytes must be locked"));
      status.SetPayload("reason", absl::Cord("MEMLOCK_TOO_LOW"));
      return status;
    }
    auto domain = inner_->OpenDomain(window, access);
    if (!domain.ok()) return domain;
    locked_.used += bytes;
    return std::make_unique<Counted>(*std::move(domain), locked_, bytes);
  }

  std::function<absl::Status(const MemoryWindow&)> refuse;
  int domains = 0;  // ever asked for

 private:
  class Counted final : public Domain {
   public:
    Counted(std::unique_ptr<Domain> inner, LockedMemory& locked, size_t bytes)
        : inner_(std::move(inner)), locked_(locked), bytes_(bytes) {}
    ~Counted() override { locked_.used -= bytes_; }
    RemoteWindow remote_window() const override { return inner_->remote_window(); }
    absl::StatusOr<std::unique_ptr<Offer>> NewOffer(size_t poller) override {
      return inner_->NewOffer(poller);
    }

   private:
    const std::unique_ptr<Domain> inner_;
    LockedMemory& locked_;
    const size_t bytes_;
  };

  const std::unique_ptr<Transport> inner_;
  LockedMemory& locked_;
};

// One or two of them, with a poller.
struct LimitedRails {
  explicit LimitedRails(size_t count) {
    const auto fabric = std::make_shared<inproc::Fabric>();
    for (size_t i = 0; i < count; ++i) {
      rails.push_back(std::make_unique<LimitedRail>(
          inproc::Create(absl::StrCat("r", i), *loop, fabric), locked));
    }
  }
  std::vector<Transport*> transports() const {
    std::vector<Transport*> out;
    for (const auto& rail : rails) out.push_back(rail.get());
    return out;
  }

  std::unique_ptr<EventLoop> loop = EventLoop::Create("rails").value();
  LockedMemory locked;
  std::vector<std::unique_ptr<LimitedRail>> rails;
};

}  // namespace tapedeck::dataplane::ladder
