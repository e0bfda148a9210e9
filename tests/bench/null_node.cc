#include "tests/bench/null_node.h"

#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_set.h"
#include "services/base/process/daemon.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/server.h"
#include "services/rpc/server/signals.h"
#include "services/rpc/session_stream/control_streams.h"
#include "services/session/serving/registry.h"
#include "tests/bench/ends.h"
#include "tests/bench/null_catalog.h"

namespace tapedeck::bench {
namespace {

using services::session::Admission;
using services::session::Direction;

// Of a session of tapedeck-bench, by its labels.
absl::StatusOr<NullStream> FromLabels(const std::map<std::string, std::string>& labels) {
  NullStream stream;
  const auto number = [&](const char* name, auto* value) {
    const auto label = labels.find(name);
    return label != labels.end() && absl::SimpleAtoi(label->second, value);
  };
  uint32_t crc = 0;
  if (!number("blocks", &stream.blocks) || !number("block_bytes", &stream.block_bytes) ||
      !number("slots", &stream.slots) || !number("crc", &crc) ||
      crc > static_cast<uint32_t>(Checks::kOnce)) {
    return absl::InvalidArgumentError("a label of tapedeck-bench is missing or wrong");
  }
  stream.crc = static_cast<Checks>(crc);
  return stream;
}

// Of any other: a worker's, by what it is for. The CRC of what it plays is made once.
absl::StatusOr<NullStream> FromTarget(const services::session::Open& open) {
  TD_ASSIGN_OR_RETURN(
      const NullTarget target,
      NullTargetOf(open.direction == Direction::kRecord ? open.channel : open.recording));
  return NullStream{
      .blocks = target.blocks, .block_bytes = target.block_bytes, .crc = Checks::kOnce};
}

class NullHost final : public services::session::SessionHost {
 public:
  void Admit(const services::session::Open& open, dataplane::Executor&,
             std::shared_ptr<services::session::AdmissionWatch>,
             services::session::OnAdmitted admitted) override {
    admitted(Make(open));
  }

 private:
  static absl::StatusOr<Admission> Make(const services::session::Open& open) {
    TD_ASSIGN_OR_RETURN(const NullStream stream,
                        open.labels.contains("slots") ? FromLabels(open.labels) : FromTarget(open));
    Admission admission{.check_payload = stream.crc != Checks::kNone};
    TD_ASSIGN_OR_RETURN(admission.ring, MakeHostRing(stream.slots, stream.block_bytes));
    if (open.direction == Direction::kRecord) {
      admission.sink = MakeNullSink(nullptr);
    } else {
      admission.source =
          MakePassthroughSource(admission.ring, {.blocks = stream.blocks, .crc = stream.crc});
      admission.accept.blocks = stream.blocks;
    }
    admission.accept.recording = open.direction == Direction::kRecord ? "null" : open.recording;
    admission.accept.datatype = "cf32_le";
    admission.accept.op = open.op.value_or(dataplane::TransferOp::kRead);
    admission.accept.commit = services::session::CommitLevel::kReceived;
    admission.accept.block_bytes = stream.block_bytes;
    return admission;
  }
};

class Describer final : public services::NodeDescriber {
 public:
  explicit Describer(const services::session::Registry& registry) : registry_(registry) {}
  services::NodeInfo Describe() const override { return {.name = "null", .pid = getpid()}; }
  services::NodeStats Stats() const override { return registry_.stats(); }

 private:
  const services::session::Registry& registry_;
};

}  // namespace

std::map<std::string, std::string> ToLabels(const NullStream& stream) {
  return {{"blocks", absl::StrCat(stream.blocks)},
          {"block_bytes", absl::StrCat(stream.block_bytes)},
          {"slots", absl::StrCat(stream.slots)},
          {"crc", absl::StrCat(static_cast<int>(stream.crc))}};
}

absl::Status ServeNullNode(const std::string& listen, const std::vector<std::string>& rails) {
  TD_ASSIGN_OR_RETURN(auto port, services::ReservedPort::Create(listen));
  TD_ASSIGN_OR_RETURN(const auto rail_set, dataplane::RailSet::Create(rails, {.listen = true}));
  TD_ASSIGN_OR_RETURN(const auto loops, services::MakeSessionLoops());
  NullHost host;
  services::session::Registry registry(services::AsExecutors(loops), rail_set->transports(), &host);
  const Describer describer(registry);
  NullCatalog catalog;
  TD_ASSIGN_OR_RETURN(
      const auto server,
      services::server::Server::Create(
          std::move(port), {services::server::NodeServiceOver(describer),
                            services::server::CatalogServiceOver(catalog, catalog, catalog),
                            services::session_stream::SessionServiceOver(registry)}));
  services::server::WaitForShutdownSignal();
  server->Drain();
  registry.Drain(0);
  server->Shutdown(absl::Seconds(1));
  return absl::OkStatus();
}

}  // namespace tapedeck::bench
