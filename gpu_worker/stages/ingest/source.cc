#include "gpu_worker/stages/ingest/source.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/datatype.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/packets/named.h"
#include "gpu_worker/stages/ingest/packet.h"
#include "gpu_worker/stages/ingest/packet_source.h"
#include "gpu_worker/stages/ingest/receiver.h"
#include "gpu_worker/stages/ingest/signal_marks.h"
#include "gpu_worker/stages/parameters.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/errors.h"
#include "services/model/recording/lost.h"
#include "services/model/recording/sample_time.h"

namespace tapedeck::gpu_worker::stages::ingest {

using dataplane::Flow;

namespace {

struct PacketKind {
  const char* name;
  bool timed;       // by times, so that the channel must have a sample rate
  bool big_endian;  // so are samples of more than a byte
  std::unique_ptr<PacketReader> (*create)(const StreamSettings& settings);
};

// The one place that knows them all.
constexpr PacketKind kPacketKinds[] = {
    {"numbered", false, false, &numbered::CreateReader},
    {"vita49", true, true, &vita49::CreateReader},
};

constexpr size_t kMostAddressBytes = 256;
constexpr double kLongestTimeout = 3600;
constexpr uint64_t kLeastBuffer = 64 << 10;
constexpr uint64_t kMostBuffer = 1 << 30;

bool IsAddress(const std::string& text) {
  return text.size() <= kMostAddressBytes && text.find('\0') == std::string::npos &&
         services::CheckListenAddress(text).ok();
}

// Blocks between the network and the pipeline. At 500 MB/s it holds 64 ms.
constexpr size_t kStagingBytes = 32 << 20;
// Two are open for packets out of order, and some wait for the pipeline.
constexpr size_t kLeastSlots = 6;

constexpr char kRestartLabel[] = "restart";

class IngestSource final : public SourceStage {
 public:
  IngestSource(size_t block_bytes, const StreamSettings& stream, std::unique_ptr<Receiver> receiver,
               std::shared_ptr<Counts> counts, std::shared_ptr<StageReport> report)
      : block_samples_(block_bytes / stream.sample_bytes),
        sample_bytes_(stream.sample_bytes),
        sample_rate_(stream.sample_rate),
        receiver_(std::move(receiver)),
        counts_(std::move(counts)),
        report_(std::move(report)) {}

  bool fills_host() const override { return true; }

  bool EndNow() override {
    receiver_->EndNow();
    return true;
  }

  void SetWaker(dataplane::Waker waker) override { receiver_->SetWaker(std::move(waker)); }

  absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& /*queue*/) override {
    if (missing_blocks_ > 0) return Missing(slot.sequence);
    Placed placed;
    TD_ASSIGN_OR_RETURN(const Flow flow, receiver_->Take(&placed));
    if (flow != Flow::kMoved) return Filled{.flow = flow};
    missing_blocks_ = placed.missing_blocks;
    if (missing_blocks_ > 0) return Missing(slot.sequence);
    std::ranges::copy(placed.slot.memory().first(placed.bytes), slot.host.begin());
    for (const Range& gap : placed.gaps) Lost(slot.sequence, gap);
    Filled filled{.bytes = placed.bytes, .capture_ns = CaptureNs(slot.sequence)};
    if (placed.bytes < slot.host.size()) filled.end = receiver_->status();
    return filled;
  }

 private:
  // By the sample rate: a block is taken when its last packet has come. Without a rate only the
  // first is sure to be no older than its packets.
  std::optional<int64_t> CaptureNs(uint64_t sequence) const {
    const auto begin_ns = receiver_->begin_ns();
    if (!begin_ns.has_value() || (sample_rate_ <= 0 && sequence > 0)) return std::nullopt;
    return services::model::TimeAfter(*begin_ns, sequence * block_samples_, sample_rate_);
  }

  Filled Missing(uint64_t sequence) {
    --missing_blocks_;
    ++counts_->lost_blocks;
    counts_->lost_samples += block_samples_;
    return {.bytes = 0, .capture_ns = CaptureNs(sequence)};
  }

  void Lost(uint64_t sequence, const Range& gap) {
    const uint64_t samples = gap.size() / sample_bytes_;
    ++counts_->lost_places;
    counts_->lost_samples += samples;
    report_->Annotate({.sample_start = sequence * block_samples_ + gap.begin / sample_bytes_,
                       .sample_count = samples,
                       .label = services::model::kLostLabel});
  }

  const uint64_t block_samples_;
  const size_t sample_bytes_;
  const double sample_rate_;  // of the channel; 0: unknown
  const std::unique_ptr<Receiver> receiver_;
  const std::shared_ptr<Counts> counts_;
  const std::shared_ptr<StageReport> report_;
  uint64_t missing_blocks_ = 0;  // that come next
};

absl::StatusOr<std::shared_ptr<dataplane::MemoryPool>> MakeStaging(size_t block_bytes) {
  const size_t slots = std::max(kStagingBytes / block_bytes, kLeastSlots);
  TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(slots * block_bytes));
  return dataplane::MemoryPool::Create(std::move(memory), block_bytes);
}

// What the packets' samples are, as the channel or the first transform has them.
absl::StatusOr<StreamSettings> StreamOf(const Parameters& parameters, const SourceSetup& setup) {
  const PacketKind& kind = *packets::FindNamed(kPacketKinds, parameters.packets);
  TD_ASSIGN_OR_RETURN(const auto parsed, dataplane::ParseDatatype(setup.datatype));
  if (kind.big_endian && parsed.bits > 8 && !parsed.big_endian) {
    const std::string big = setup.datatype.substr(0, setup.datatype.rfind('_')) + "_be";
    return services::ArgumentInvalid(
        "source", absl::StrCat("packets of ", parameters.packets, " carry big-endian samples, and ",
                               setup.datatype, " is asked for: record into a channel of ", big,
                               ", or with --transform convert:from=", big, ",to=", setup.datatype));
  }
  if (kind.timed && setup.sample_rate <= 0) {
    return services::ArgumentInvalid(
        "source", absl::StrCat("packets of ", parameters.packets,
                               " have times: give the channel the sample rate of the stream"));
  }
  StreamSettings stream{.sample_bytes = parsed.bytes_per_sample(),
                        .datatype = parsed,
                        .sample_rate = setup.sample_rate,
                        .at_ns = setup.at_ns,
                        .from_first = !setup.in_group};
  if (parameters.stream != kAnyStream) stream.stream = static_cast<uint32_t>(parameters.stream);
  return stream;
}

services::Notes NotesOf(const Parameters& parameters, const OpenedPacketSource& opened) {
  const std::string address = parameters.transport_address();
  services::Notes notes{services::MakeNote(
      "INGEST_LISTENS", absl::StrCat("ingest: listens at ", address, ", port ", opened.port),
      {{"address", address}, {"port", absl::StrCat(opened.port)}})};
  if (opened.buffer_bytes < parameters.buffer) {
    notes.push_back(services::MakeNote(
        "INGEST_BUFFER_SMALL",
        absl::StrCat("ingest: the kernel gives a receive buffer of ", opened.buffer_bytes,
                     " bytes instead of ", parameters.buffer, "; raise net.core.rmem_max"),
        {{"bytes", absl::StrCat(opened.buffer_bytes)},
         {"wanted_bytes", absl::StrCat(parameters.buffer)}}));
  }
  return notes;
}

std::function<void(uint64_t, int64_t)> MarkerOf(std::shared_ptr<StageReport> report) {
  return [report = std::move(report)](uint64_t position, int64_t told) {
    report->Mark({.sample_start = position,
                  .label = kRestartLabel,
                  .comment = absl::StrCat("the sender's count continues at sample ", told)});
  };
}

// By the transport that `parameters` name; its errors.
absl::StatusOr<OpenedPacketSource> OpenPacketSource(const Parameters& parameters,
                                                    const PacketReader& reader) {
  const PacketSourceSettings settings{.address = parameters.transport_address(),
                                      .interface = parameters.interface,
                                      .from = parameters.from,
                                      .buffer_bytes = parameters.buffer,
                                      .reader = &reader};
  return parameters.udp.empty() ? tcp::Open(settings) : udp::Open(settings);
}

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader("ingest", given);
  reader.Text("udp", out.udp);
  reader.Text("tcp", out.tcp);
  const std::string transport = out.tcp.empty() ? "udp" : "tcp";
  reader.Require(out.udp.empty() || out.tcp.empty(), "tcp", "left out where udp is given");
  reader.Require(IsAddress(out.transport_address()), transport,
                 "HOST:PORT, where packets come to, or tcp must");
  for (auto [name, text] : {std::pair("interface", &out.interface), {"from", &out.from}}) {
    reader.Text(name, *text);
    reader.Require(text->empty() || (!out.udp.empty() && text->size() <= kMostAddressBytes), name,
                   "with a multicast address in udp");
  }
  reader.Text("packets", out.packets);
  reader.Require(packets::FindNamed(kPacketKinds, out.packets) != nullptr, "packets",
                 absl::StrCat("one of ", absl::StrJoin(packets::NamesOf(kPacketKinds), ", ")));
  reader.Whole("stream", out.stream);
  reader.Require(out.stream <= UINT32_MAX || out.stream == kAnyStream, "stream",
                 "a whole number of 32 bits");
  reader.Number("timeout", out.timeout, 0.001, kLongestTimeout);
  reader.Text("silence", out.silence);
  reader.Require(out.silence == "end" || out.silence == "error", "silence", "end or error");
  reader.Whole("buffer", out.buffer);
  reader.Require(out.buffer >= kLeastBuffer && out.buffer <= kMostBuffer, "buffer",
                 absl::StrCat("from ", kLeastBuffer, " to ", kMostBuffer, " bytes"));
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.parameters = {{"packets", parameters.packets}}, .ends = true, .waits = true};
}

absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourceSetup& setup) {
  TD_ASSIGN_OR_RETURN(const StreamSettings stream, StreamOf(parameters, setup));
  auto reader = packets::FindNamed(kPacketKinds, parameters.packets)->create(stream);
  auto opened = OpenPacketSource(parameters, *reader);
  if (!opened.ok()) {
    return services::ArgumentInvalid(parameters.udp.empty() ? "ingest.tcp" : "ingest.udp",
                                     absl::StrCat("ingest: ", opened.status().message()));
  }
  MadeSource made{.datatype = setup.datatype, .notes = NotesOf(parameters, *opened)};
  const auto counts = std::make_shared<Counts>();
  const auto timeout_ns = static_cast<int64_t>(parameters.timeout * 1e9);
  made.report = std::make_shared<StageReport>([counts, timeout_ns, rate = stream.sample_rate] {
    services::Notes notes{NoteOf(*counts)};
    if (auto pace = PaceNoteOf(*counts, rate); pace.has_value()) notes.push_back(*std::move(pace));
    if (auto end = EndNoteOf(counts->ending, timeout_ns); end.has_value())
      notes.push_back(*std::move(end));
    return notes;
  });
  TD_ASSIGN_OR_RETURN(auto slots, MakeStaging(setup.block_bytes));
  TD_ASSIGN_OR_RETURN(auto receiver,
                      Receiver::Create({.reader = std::move(reader),
                                        .packet_source = std::move(opened->packet_source),
                                        .address = parameters.transport_address(),
                                        .slots = std::move(slots),
                                        .block_bytes = setup.block_bytes,
                                        .sample_bytes = stream.sample_bytes,
                                        .sample_rate = stream.sample_rate,
                                        .timeout_ns = timeout_ns,
                                        .silence_fails = parameters.silence == "error",
                                        .at_ns = setup.at_ns,
                                        .marks = std::make_unique<SignalMarks>(made.report, counts),
                                        .restarted = MarkerOf(made.report),
                                        .counts = counts}));
  made.stage = std::make_unique<IngestSource>(setup.block_bytes, stream, std::move(receiver),
                                              counts, made.report);
  return made;
}

}  // namespace tapedeck::gpu_worker::stages::ingest
