// Writes the seeds: real records of each kind, in the form that the targets read.
//   fuzz_make_corpus tests/fuzz/corpus
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/block/frame.h"
#include "dataplane/reason.h"
#include "dataplane/transport/tcp/wire.h"
#include "gpu_worker/packets/numbered/packet.h"
#include "services/formats/vita49/pcap.h"
#include "services/rpc/convert/session.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/signal_text.h"
#include "storage_node/format/config.h"
#include "storage_node/format/index.h"
#include "storage_node/format/lun_note.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/device/layout.h"

namespace tapedeck::fuzz {
namespace {

namespace format = storage_node::format;
namespace device = storage_node::store::device;
namespace session = services::session;

constexpr char kLunUid[] = "00112233-4455-4677-8899-aabbccddeeff";

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void Add(const std::string& target, const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(folder_ / target);
    std::ofstream(folder_ / target / name, std::ios::binary) << bytes;
  }
  // The target puts the zeros at its end there again.
  void AddPage(const std::string& target, const std::string& name, std::string bytes) const {
    while (!bytes.empty() && bytes.back() == '\0') bytes.pop_back();
    Add(target, name, bytes);
  }

 private:
  const std::filesystem::path folder_;
};

template <typename Bytes>
std::string TextOf(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string How(int how, const std::string& rest) {
  return std::string(1, static_cast<char>(how)) + rest;
}

format::Manifest SomeManifest() {
  return {.id = "20261120T235144Z-3f2a",
          .identity = {.lun = *format::Uuid::Parse(kLunUid), .channel = "adsb", .epoch = 7},
          .members = 2,
          .block_bytes = 1 << 20,
          .datatype = "cf32_le",
          .sample_rate = 2.4e6,
          .labels = {{"site", "north"}, {"odd \"key\"\n", "[{"}},
          .origin = {.source = {.name = "synth", .parameters = {{"seed", "7"}}},
                     .transforms = {{.name = "fft", .parameters = {{"points", "64"}}}}},
          .group = services::model::RecordingGroup{.id = "g"},
          .part = services::model::Part{.number = 1, .parts = 2, .whole = "r"},
          .open_time_ns = 1'795'218'704'123'456'789,
          .annotations = {{.sample_start = 4096, .sample_count = 100, .label = "burst"}},
          .kept = true,
          .generation = 4,
          .state = services::RecordingState::kSalvaged,
          .blocks = 100,
          .bytes = 97ull << 20,
          .durable_watermark = 40,
          .missing = {{.first = 40, .count = 2}, {.first = 50, .count = 1}},
          .start_time_ns = 1'795'218'704'130'000'001,
          .end_time_ns = 1'795'218'705'000'000'000,
          .cause = "ABORTED: power cut"};
}

void AddFrames(const Corpus& corpus) {
  dataplane::Frame frame{.type = dataplane::FrameType::kBlock, .slot = 3, .number = 9};
  frame.block = {.sequence = 12, .sample_index = 99, .capture_ns = 5, .payload_bytes = 100};
  corpus.Add("frame", "block", TextOf(dataplane::EncodeFrame(frame)));
  corpus.Add("frame", "ping", TextOf(dataplane::EncodeFrame({})));
  using namespace dataplane::tcp;  // NOLINT: its names alone
  const auto operation = [&](const OpHeader& header) {
    std::array<std::byte, kOpHeaderBytes> bytes{};
    EncodeOpHeader(header, bytes);
    return TextOf(bytes) + TextOf(dataplane::EncodeFrame(frame));
  };
  const std::string send = operation({.kind = OpKind::kSend, .payload_bytes = 100});
  const std::string write =
      operation({.kind = OpKind::kWrite, .payload_bytes = 100, .key = 7, .address = 0x1000});
  const std::string request =
      operation({.kind = OpKind::kReadRequest, .payload_bytes = 64, .key = 7, .address = 0x1100});
  const std::string answer =
      operation({.kind = OpKind::kReadResponse, .payload_bytes = 300, .work = 1});
  corpus.Add("tcp_frames", "write", How(0, write + send));
  corpus.Add("tcp_frames", "read", How(1, request + answer));
  corpus.Add("tcp_frames", "raw", How(2, send + std::string(100, 'x') + write));
}

void AddIndex(const Corpus& corpus) {
  const format::EntryFormat entries = format::EntryFormat::Of(64 << 10, 0);
  std::vector<std::byte> entry(entries.entry_bytes);
  entries.Encode({.sequence = 3, .payload_bytes = 9, .check = 7, .pieces = {5}}, 0, entry);
  corpus.AddPage("index", "entry", std::string("\0\2", 2) + TextOf(entry));
  const format::IndexHeader header{.block_bytes = 1 << 20, .epoch = 4, .members = 2};
  corpus.AddPage("index", "header", How(1, TextOf(format::EncodeHeader(header, 0)).substr(0, 64)));
  const format::Watermark mark{.generation = 6, .durable = 90};
  corpus.AddPage("index", "watermark",
                 How(1, TextOf(format::EncodeWatermark(mark, 0)).substr(0, 64)));
}

void AddJson(const Corpus& corpus) {
  corpus.Add("manifest", "closed", format::EncodeManifest(SomeManifest()));
  corpus.Add(
      "manifest", "new",
      format::EncodeManifest(
          {.id = "r", .identity = {.channel = "c"}, .block_bytes = 65536, .datatype = "cu8"}));
  const services::Lun lun{.name = "luns/l",
                          .uid = kLunUid,
                          .store = "direct",
                          .members = {"/a", "/b"},
                          .capacity_bytes = 5,
                          .prewrite_files = 2,
                          .prewrite_bytes = 4096};
  corpus.Add("config", "lun", format::EncodeLun(lun, 1));
  const services::Channel channel{.name = "luns/l/channels/c",
                                  .block_bytes = 1 << 20,
                                  .datatype = "cf32_le",
                                  .sample_rate = 1e9,
                                  .pre_trigger_ns = 5};
  corpus.Add("config", "channel", format::EncodeChannel(channel));
  corpus.Add("config", "channel_of_a_copy", format::EncodeChannel(channel, kLunUid));
  corpus.Add("config", "note", format::EncodeLunNote({.lun = lun, .channels = {channel}}));
  corpus.Add("config", "empty_note", format::EncodeLunNote({.lun = lun}));
}

void AddDeviceStore(const Corpus& corpus) {
  const device::Superblock superblock{.member = 1, .slots = 64, .device_bytes = 1 << 30};
  corpus.AddPage("device_store", "superblock",
                 How(1, TextOf(device::EncodeSuperblock(superblock).bytes()).substr(0, 80)));
  const device::SlotRecord record{.generation = 6,
                                  .live = true,
                                  .path = {.channel = "adsb", .recording = "20261120T235144Z-3f2a"},
                                  .data = {{.first = 7, .count = 16}, {.first = 99, .count = 1}},
                                  .index = {{.first = 3, .count = 1}},
                                  .data_bytes = 12345,
                                  .index_bytes = 678,
                                  .manifest = "{}"};
  corpus.AddPage("device_store", "slot", How(0, TextOf(device::EncodeSlot(record, {})->bytes())));
}

void AddSession(const Corpus& corpus) {
  const auto request = [&](const std::string& name, const session::Message& message) {
    corpus.Add("session", name,
               How(0, services::convert::ToTransferRequest(message)->SerializeAsString()));
  };
  const auto response = [&](const std::string& name, const session::Message& message) {
    corpus.Add("session", name,
               How(1, services::convert::ToTransferResponse(message)->SerializeAsString()));
  };
  request("open", session::Open{.channel = "luns/l/channels/c",
                                .slots = 8,
                                .slot_bytes = 65536,
                                .labels = {{"site", "north"}},
                                .origin = {.source = {.name = "synth"}}});
  response("accept", session::Accept{.session = "s",
                                     .recording = "luns/l/channels/c/recordings/r",
                                     .datatype = "cu8",
                                     .block_bytes = 65536,
                                     .slots = 8,
                                     .rails = {{"r0", "tcp", "127.0.0.1"}}});
  request("offer", session::RailOffer{.rail = "r0",
                                      .endpoint = dataplane::TcpEndpoint{.address = "127.0.0.1"},
                                      .window = {.address = 4096, .bytes = 65536, .key = 3}});
  response("pair", session::RailOffer{.rail = "r0",
                                      .endpoint = dataplane::QueuePairEndpoint{
                                          .qp_num = 9, .payload_qp_num = 8, .mtu_bytes = 1024}});
  request("end", session::EndOfStream{.blocks = 20});
  const session::Progress progress{.verifier = "v",
                                   .watermarks = {.received = 5, .written = 4, .durable = 3},
                                   .blocks = 5,
                                   .rails = {{.name = "r0", .blocks = 5, .up = true}}};
  response("progress", progress);
  const absl::Status cause =
      dataplane::WithReason(absl::AbortedError("x"), "PEER_LOST", {{"node", "s0"}});
  request("finished", session::Finished{.cause = cause, .progress = progress});
}

// A capture of the packets, and each behind its words.
void AddCaptures(const Corpus& corpus, const std::vector<std::string>& packets) {
  namespace formats = services::formats;
  std::string file = formats::PcapHead(), words;
  for (const std::string& packet : packets) {
    formats::AppendDatagram({.time_ns = 1, .port = 4991, .bytes = std::as_bytes(std::span(packet))},
                            &file);
    words += How(static_cast<int>(packet.size() / services::vita49::kWordBytes), packet);
  }
  corpus.Add("captures", "file", file);
  corpus.Add("captures", "words", words);
}

void AddWaves(const Corpus& corpus) {
  using namespace std::string_literals;
  const std::string format = "\1\0\2\0\x40\x1f\0\0\0\x7d\0\0\4\0\x10\0"s;
  const auto chunk = [](const std::string& name, const std::string& bytes) {
    return name + How(static_cast<int>(bytes.size()), "\0\0\0"s) + bytes;
  };
  const std::string data(40, 's');
  const std::string chunks = chunk("fmt ", format) + chunk("data", data);
  corpus.Add("waves", "riff", "RIFF" + How(72, "\0\0\0"s) + "WAVE" + chunks);
  corpus.Add("waves", "open", "RIFF\0\0\0\0WAVE"s + chunk("fmt ", format) + "data\0\0\0\0"s + data);
  corpus.Add(
      "waves", "auxi",
      "RIFF\0\0\0\0WAVE"s + chunk("auxi", "<a UTCSeconds=\"5\" RadioCenterFreq=\"7\"/>") + chunks);
  // Of those that the target puts heads before: kind, size, bytes.
  corpus.Add("waves", "words", How(0, How(0, How(16, format)) + How(1, How(40, data))));
}

// Each behind its size.
void AddPackets(const Corpus& corpus) {
  namespace vita49 = services::vita49;
  const auto sized = [](const std::string& packet) {
    return How(static_cast<int>(packet.size()), packet);
  };
  const std::string samples(16, 's');
  const gpu_worker::packets::numbered::Header header{
      .number = 7, .stream = 1, .samples_bytes = static_cast<uint16_t>(samples.size())};
  corpus.Add("packets", "numbered",
             sized(TextOf(gpu_worker::packets::numbered::Encode(header)) + samples));
  const vita49::Time time{.has_seconds = true,
                          .seconds = 1'764'115'200,
                          .kind = vita49::Fraction::kPicoseconds,
                          .fraction = 5'000'000};
  const vita49::Context context{
      .bandwidth_hz = 8e5, .frequency_hz = 1.5e9, .gain_db = -3.5, .sample_rate = 1e6};
  const dataplane::Datatype format{
      .complex = true, .kind = dataplane::Datatype::Kind::kInt, .bits = 16};
  const std::string data = TextOf(vita49::Encode(vita49::DataHeader{
                               .stream = 1, .time = time, .samples_bytes = samples.size()})) +
                           samples;
  const std::string told = TextOf(vita49::Encode(
      vita49::ContextPacket{.stream = 1, .time = time, .context = context, .format = format}));
  corpus.Add("packets", "vita49", sized(data) + sized(told));
  AddCaptures(corpus, {told, data});
  AddWaves(corpus);
  corpus.Add("packets", "signal", vita49::TextOf(context));
}

void AddTexts(const Corpus& corpus) {
  for (const char* spec :
       {"r0=tcp:127.0.0.1", "r1=auto:[fe80::1]:7401", "a.b-c_d=verbs:10.0.0.1:7"}) {
    corpus.Add("rail_spec", std::string(spec).substr(0, 2), spec);
  }
  corpus.Add("settings", "yaml",
             "state: /tmp/deck # here\nrails:\n- {name: r0, transport: tcp, address: \"::1\"}\n"
             "- name: r1\n  port: 7600\nfollow_memory: 64MiB\nflight_recorder: on\n");
  corpus.Add("settings", "json", R"({"listen": "a\u00e9:1", "rails": [{"name": "r0"}]})");
  const std::string own = "127.0.0.1:7480\nhttp://127.0.0.1:7480\ntapedeck.v1.CatalogService/";
  corpus.Add("console", "create", own + R"(CreateLun
{"lun_id": "l0", "lun": {"store": "posix", "members": ["/a"], "capacity_bytes": 7, "max_age_s": 1.5}})");
  corpus.Add("console", "update", own + R"(UpdateChannel
{"channel": {"name": "luns/l0/channels/c0", "sample_rate": 1e6, "labels": {"a": "\u00e9"}}, "update_mask": "sample_rate"})");
  corpus.Add("sigmf", "plain",
             R"({"global": {"core:datatype": "ci16_le", "core:num_channels": 2,
 "core:version": "1.0.0"}, "captures": [{"core:sample_start": 0}], "annotations": []})");
  corpus.Add("sigmf", "foreign",
             R"({"global": {"core:datatype": "cu8", "core:dataset": "b.raw",
 "core:trailing_bytes": 4, "core:metadata_only": false}, "captures": [{"core:header_bytes": 8}]})");
}

}  // namespace
}  // namespace tapedeck::fuzz

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const tapedeck::fuzz::Corpus corpus(argv[1]);
  tapedeck::fuzz::AddFrames(corpus);
  tapedeck::fuzz::AddIndex(corpus);
  tapedeck::fuzz::AddJson(corpus);
  tapedeck::fuzz::AddDeviceStore(corpus);
  tapedeck::fuzz::AddSession(corpus);
  tapedeck::fuzz::AddPackets(corpus);
  tapedeck::fuzz::AddTexts(corpus);
  return 0;
}
