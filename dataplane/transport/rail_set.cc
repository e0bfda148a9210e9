#include "dataplane/transport/rail_set.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/executor/processors.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/topology/interfaces.h"

namespace tapedeck::dataplane {
namespace {

// An interface in the place of an address gives its own, as it is now.
absl::Status FindAddress(RailSpec& spec) {
  if (spec.interface.empty()) return absl::OkStatus();
  std::string address = topology::AddressOf(spec.interface);
  if (address.empty()) {
    return absl::UnavailableError(absl::StrCat(
        "rail ", spec.name, ": no interface ", spec.interface, " with an IP address here, only ",
        absl::StrJoin(topology::InterfacesWithAddresses(), ", ")));
  }
  spec.address = std::move(address);
  return absl::OkStatus();
}

// As ps and gdb show it, in 15 characters: "rail-r0", then "rail-r0.1" and so on.
std::string NameOf(const std::string& rail, size_t poller) {
  constexpr size_t kLongest = 13;
  const std::string name = absl::StrCat("rail-", rail);
  return poller == 0 ? name : absl::StrCat(name.substr(0, kLongest), ".", poller);
}

absl::StatusOr<std::vector<std::unique_ptr<EventLoop>>> MakePollers(const std::string& rail,
                                                                    size_t count) {
  std::vector<std::unique_ptr<EventLoop>> pollers;
  for (size_t i = 0; i < count; ++i) {
    TD_ASSIGN_OR_RETURN(pollers.emplace_back(), EventLoop::Create(NameOf(rail, i)));
  }
  return pollers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RailSet>> RailSet::Create(const std::vector<std::string>& texts,
                                                         RailUse use) {
  auto set = std::unique_ptr<RailSet>(new RailSet());
  TD_RETURN_IF_ERROR(CheckRails(texts));
  const UsableProcessors usable = FindUsableProcessors();
  const size_t pollers = PollersPerRail(texts.size(), usable.threads());
  Log(LogLevel::kInfo, "transport", "pollers of each rail",
      {{"pollers", absl::StrCat(pollers)},
       {"rails", absl::StrCat(texts.size())},
       {"usable_processors", TextOf(usable)}});
  for (const std::string& text : texts) {
    TD_ASSIGN_OR_RETURN(const RailSpec spec, SpecOf(text, use));
    TD_RETURN_IF_ERROR(set->Add(spec, pollers));
  }
  return set;
}

std::vector<absl::Status> RailSet::Look(const std::vector<std::string>& texts, const RailUse& use) {
  std::vector<absl::Status> faults;
  for (const std::string& text : texts) {
    const auto spec = SpecOf(text, use);
    const absl::Status status = spec.ok() ? CheckUsable(*spec) : spec.status();
    if (!status.ok()) faults.push_back(status);
  }
  return faults;
}

absl::StatusOr<RailSpec> RailSet::SpecOf(const std::string& text, const RailUse& use) {
  TD_ASSIGN_OR_RETURN(RailSpec spec, ParseRailSpec(text));
  TD_RETURN_IF_ERROR(FindAddress(spec));
  spec.listen = use.listen;
  spec.tls = use.tls;
  spec.copies = use.copies;
  return spec;
}

absl::Status RailSet::Add(const RailSpec& spec, size_t pollers) {
  TD_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<EventLoop>> made,
                      MakePollers(spec.name, pollers));
  Pollers loops;
  for (const auto& poller : made) loops.push_back(poller.get());
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, CreateTransport(spec, loops));
  made.resize(transport->pollers().size());  // those that its kind uses are the first
  const RailDescription& rail = transport->rail();
  Log(LogLevel::kInfo, "transport", "rail ready",
      {{"rail", rail.name},
       {"transport", rail.transport},
       {"address", rail.address},
       {"port", absl::StrCat(rail.port)},
       {"pollers", absl::StrCat(made.size())},
       {"tls", rail.tls ? "on" : "off"}});
  std::ranges::move(made, std::back_inserter(pollers_));
  transports_.push_back(std::move(transport));
  return absl::OkStatus();
}

std::vector<Transport*> RailSet::transports() const {
  std::vector<Transport*> pointers;
  for (const auto& transport : transports_) pointers.push_back(transport.get());
  return pointers;
}

std::vector<Executor*> RailSet::executors() const {
  std::vector<Executor*> pointers;
  for (const auto& poller : pollers_) pointers.push_back(poller.get());
  return pointers;
}

}  // namespace tapedeck::dataplane
