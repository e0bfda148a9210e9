#include "tests/services/rpc/identity/secure_server.h"

#include "absl/strings/str_cat.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/inlets.h"
#include "services/model/seams/jobs.h"
#include "services/model/seams/node.h"
#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "services/model/seams/view.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/session_stream/control_streams.h"

namespace tapedeck::services::identity {
namespace {

absl::Status Nothing() { return absl::UnimplementedError("a fake"); }

class FakeRecorder final : public RecorderControl, public ScrubControl {
 public:
  absl::StatusOr<std::vector<Capture>> TriggerRecording(const std::string&,
                                                        const Trigger&) override {
    return Nothing();
  }
  absl::Status Annotate(const std::string&, std::span<const Annotation>) override {
    return Nothing();
  }
  absl::StatusOr<model::Marked> AnnotateStream(const std::string&,
                                               std::span<const Annotation>) override {
    return Nothing();
  }
  absl::Status KeepRecording(const std::string&, bool) override { return Nothing(); }
  absl::StatusOr<Scrub> StartScrub(const ScrubStart&) override { return Nothing(); }
  absl::StatusOr<Scrub> GetScrub(const std::string&) override { return Nothing(); }
  absl::StatusOr<Scrub> StopScrub(const std::string&) override { return Nothing(); }
};

class FakeDoctor final : public doctor::Doctor {
 public:
  absl::StatusOr<doctor::Diagnosis> Examine(const doctor::Request&) override { return Nothing(); }
};

class FakeView final : public ViewControl {
 public:
  absl::StatusOr<Timeline> GetTimeline(const std::string&) override { return Nothing(); }
  absl::StatusOr<Spectrogram> ReadSpectrogram(const SpectrogramRequest&) override {
    return Nothing();
  }
  absl::StatusOr<Samples> ReadSamples(const SamplesRequest&) override { return Nothing(); }
  absl::StatusOr<Envelope> ReadEnvelope(const EnvelopeRequest&) override { return Nothing(); }
};

class FakeInlets final : public Inlets {
 public:
  absl::StatusOr<Job> StartReceive(const ReceiveSpec&) override { return Nothing(); }
  absl::StatusOr<Inlet> GetInlet(const std::string&) override { return Nothing(); }
};

class FakeAcceptor final : public session::SessionAcceptor {
 public:
  void OnStream(std::unique_ptr<session::ControlStream>) override {}  // cut at once
};

std::unique_ptr<Security> MakeSecurity(const Authority& authority, const std::string& policy,
                                       bool for_others) {
  const std::string file = for_others ? "policy.yaml" : "worker.yaml";
  return Security::Create("127.0.0.1:0",
                          {.tls = authority.Issue("server", "IP:127.0.0.1"),
                           .policy = policy.empty() ? "" : authority.Write(file, policy),
                           .for_others = for_others})
      .value();
}

}  // namespace

struct SecureServer::Others {
  FakeRecorder recorder;
  FakeDoctor doctor;
  FakeView view;
  FakeInlets inlets;
  FakeAcceptor sessions;
  dataplane::flight::Rings rings{4, 32768};
  flight::Trails trails;
  flight::Reader reader{{"host/storage", NodeRole::kStorage}, trails, rings, nullptr};
};

SecureServer::SecureServer(const std::string& policy, bool for_others, const Authority* authority)
    : own_authority_(authority == nullptr ? std::make_unique<const Authority>() : nullptr),
      authority_(authority == nullptr ? *own_authority_ : *authority),
      others_(std::make_unique<Others>()),
      security_(MakeSecurity(authority_, policy, for_others)),
      server_(
          server::Server::Create(
              ReservedPort::Create("127.0.0.1:0").value(),
              {server::CatalogServiceOver(catalog_, catalog_, catalog_),
               server::RecorderServiceOver(others_->recorder, others_->recorder),
               server::PipelineServiceOver(jobs_), server::InletServiceOver(others_->inlets),
               server::NodeServiceOver(node_), server::TraceServiceOver(others_->reader),
               server::DoctorServiceOver(others_->doctor), server::ViewServiceOver(others_->view),
               session_stream::SessionServiceOver(others_->sessions)},
              nullptr, security_.get())
              .value()),
      address_(absl::StrCat("127.0.0.1:", server_->port())) {}

SecureServer::~SecureServer() = default;

client::Channel SecureServer::ChannelWith(const TlsFiles& files) const {
  return client::MakeChannel(address_, {}, {.tls = Tls::Create(files).value()});
}

client::Channel SecureServer::ChannelOf(const std::string& identity,
                                        const std::string& acting_for) const {
  const TlsFiles files = authority_.Issue(identity, absl::StrCat("URI:spiffe://lab/", identity));
  return client::MakeChannel(address_, {},
                             {.tls = Tls::Create(files).value(), .acting_for = acting_for});
}

}  // namespace tapedeck::services::identity
