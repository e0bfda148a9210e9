#include "gpu_worker/pipeline/pipeline_factory.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/file/sink.h"
#include "gpu_worker/stages/file/source.h"
#include "gpu_worker/stages/null/sink.h"
#include "gpu_worker/stages/synth/list.h"
#include "gpu_worker/stages/synth/signal.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

using dataplane::ParseDatatype;
using services::WithReason;

// What synth makes and transforms work on.
constexpr char kCf32[] = "cf32_le";

absl::Status Wrong(absl::string_view field, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(text), "ARGUMENT_INVALID",
                    {{"field", std::string(field)}});
}

absl::Status CheckChannel(const ChannelSettings& channel) {
  if (const auto datatype = ParseDatatype(channel.datatype); !datatype.ok()) {
    return WithReason(datatype.status(), "DATATYPE_INVALID", {{"datatype", channel.datatype}});
  }
  if (channel.block_bytes == 0 || channel.block_bytes % 4096 != 0) {
    return WithReason(absl::InvalidArgumentError(absl::StrCat("block size ", channel.block_bytes,
                                                              " is not a multiple of 4096")),
                      "BLOCK_SIZE_INVALID", {{"block_bytes", absl::StrCat(channel.block_bytes)}});
  }
  return absl::OkStatus();
}

// What a source spec becomes.
struct SourceParts {
  std::unique_ptr<stages::SourceStage> stage;
  std::string datatype;  // of the payload
  uint64_t bytes = 0;    // 0: endless
  std::map<std::string, std::string> labels;
  std::vector<std::string> notes;
};

absl::StatusOr<SourceParts> MakeSource(const services::SynthSpec& spec,
                                       const RecordSettings& settings) {
  if (settings.channel.datatype != kCf32) {
    return Wrong("source", absl::StrCat("synth makes ", kCf32, ", the channel holds ",
                                        settings.channel.datatype));
  }
  TD_ASSIGN_OR_RETURN(const auto waveform, stages::synth::Parameters(spec));
  TD_ASSIGN_OR_RETURN(auto stage, stages::synth::CreateSource(waveform, *settings.device->device));
  return SourceParts{
      .stage = std::move(stage), .datatype = kCf32, .labels = stages::synth::Labels(spec)};
}

absl::StatusOr<SourceParts> MakeSource(const services::FileSourceSpec& spec,
                                       const RecordSettings& settings) {
  const bool transforms = settings.spec.transfer.fft_points != 0;
  const std::string& channel_type = settings.channel.datatype;
  TD_ASSIGN_OR_RETURN(auto file, stages::file::OpenSource({.path = spec.path,
                                                           .raw_datatype = channel_type,
                                                           .loop = spec.loop,
                                                           .to_cf32 = transforms}));
  const bool fits = file.datatype == channel_type || (transforms && channel_type == kCf32);
  if (!fits) {
    return WithReason(absl::InvalidArgumentError(
                          absl::StrCat(spec.path, " holds ", file.datatype, ", the channel ",
                                       channel_type, ": record into a channel of the file's type")),
                      "FILE_INVALID", {{"path", spec.path}});
  }
  return SourceParts{
      .stage = std::move(file.stage),
      .datatype = transforms ? kCf32 : file.datatype,
      .bytes = spec.loop ? 0 : file.bytes,
      .labels = {{"source", "file"}, {"file", spec.path}, {"file_datatype", file.datatype}},
      .notes = std::move(file.notes)};
}

uint64_t ExpectedBlocks(const RecordSettings& settings, uint64_t source_bytes) {
  const uint64_t block_bytes = settings.channel.block_bytes;
  const uint64_t in_source = (source_bytes + block_bytes - 1) / block_bytes;
  if (settings.spec.blocks == 0) return settings.spec.duration_ns == 0 ? in_source : 0;
  return in_source == 0 ? settings.spec.blocks : std::min(settings.spec.blocks, in_source);
}

absl::Status CheckRecord(const RecordSettings& settings) {
  TD_RETURN_IF_ERROR(CheckChannel(settings.channel));
  if (settings.spec.duration_ns < 0) return Wrong("duration", "the duration is negative");
  if (settings.ring->slot_bytes() < settings.channel.block_bytes) {
    return Wrong("slots", absl::StrCat("the ring's slots of ", settings.ring->slot_bytes(),
                                       " bytes are smaller than a block"));
  }
  return absl::OkStatus();
}

// What a sink spec becomes.
struct SinkParts {
  std::unique_ptr<stages::SinkStage> stage;
  bool needs_order = false;
  bool damaged_blocks = false;
  std::vector<std::string> notes;
};

absl::StatusOr<SinkParts> MakeSink(const services::VerifySpec& /*spec*/,
                                   const PlaybackSettings& settings,
                                   std::shared_ptr<stages::verify::Counts> counts) {
  std::string why;
  TD_ASSIGN_OR_RETURN(auto expected, stages::verify::Expected::FromLabels(
                                         settings.labels, settings.channel.block_bytes,
                                         settings.spec.transfer.fft_points, &why));
  SinkParts parts{.needs_order = true};
  if (expected == nullptr) parts.notes.push_back(why);
  parts.stage = stages::verify::CreateSink({.block_bytes = settings.channel.block_bytes,
                                            .blocks = settings.blocks,
                                            .expected = std::move(expected)},
                                           std::move(counts));
  return parts;
}

absl::StatusOr<SinkParts> MakeSink(const services::NullSpec& /*spec*/,
                                   const PlaybackSettings& /*settings*/,
                                   const std::shared_ptr<stages::verify::Counts>& /*counts*/) {
  return SinkParts{.stage = stages::null::CreateSink()};
}

absl::StatusOr<SinkParts> MakeSink(const services::FileSinkSpec& spec,
                                   const PlaybackSettings& settings,
                                   const std::shared_ptr<stages::verify::Counts>& /*counts*/) {
  TD_ASSIGN_OR_RETURN(auto stage,
                      stages::file::CreateSink({.path = spec.path,
                                                .replace = spec.replace,
                                                .block_bytes = settings.channel.block_bytes}));
  // A transform would spread the zeros over what is good.
  return SinkParts{.stage = std::move(stage),
                   .damaged_blocks = settings.spec.transfer.fft_points == 0};
}

absl::Status CheckPlayback(const PlaybackSettings& settings) {
  TD_RETURN_IF_ERROR(CheckChannel(settings.channel));
  const auto label = settings.labels.find("datatype");
  const std::string& datatype =
      label == settings.labels.end() ? settings.channel.datatype : label->second;
  if (settings.spec.transfer.fft_points == 0 || datatype == kCf32) return absl::OkStatus();
  return Wrong("fft", absl::StrCat("fft plays recordings of ", kCf32, ", this one holds ", datatype,
                                   ": record it with fft instead"));
}

}  // namespace

absl::StatusOr<Recording> CreateRecording(RecordSettings settings) {
  TD_RETURN_IF_ERROR(CheckRecord(settings));
  const services::RecordSpec& spec = settings.spec;
  const uint32_t fft_points = spec.transfer.fft_points;
  const uint64_t block_bytes = settings.channel.block_bytes;
  TD_ASSIGN_OR_RETURN(
      SourceParts parts,
      std::visit([&](const auto& source) { return MakeSource(source, settings); }, spec.source));
  TD_ASSIGN_OR_RETURN(const auto datatype, ParseDatatype(parts.datatype));
  TD_ASSIGN_OR_RETURN(auto work,
                      DeviceWork::Create(*settings.device->device,
                                         {.block_bytes = block_bytes,
                                          .fft_points = fft_points,
                                          .direct = !settings.ring->window().host_accessible}));
  Recording out{.labels = std::move(parts.labels),
                .expected_blocks = ExpectedBlocks(settings, parts.bytes),
                .notes = std::move(parts.notes)};
  out.labels["datatype"] = parts.datatype;
  out.labels["device"] = settings.device->description;
  if (fft_points != 0) out.labels["fft"] = absl::StrCat(fft_points);
  TD_ASSIGN_OR_RETURN(out.source,
                      RecordPipeline::Create(RecordPlan{.source = std::move(parts.stage),
                                                        .work = std::move(work),
                                                        .ring = std::move(settings.ring),
                                                        .clock = settings.clock,
                                                        .block_bytes = block_bytes,
                                                        .sample_bytes = datatype.bytes_per_sample(),
                                                        .blocks = spec.blocks,
                                                        .duration_ns = spec.duration_ns}));
  return out;
}

absl::StatusOr<Playback> CreatePlayback(PlaybackSettings settings) {
  TD_RETURN_IF_ERROR(CheckPlayback(settings));
  const uint64_t block_bytes = settings.channel.block_bytes;
  // Before the sink, which makes a file.
  TD_ASSIGN_OR_RETURN(
      auto work,
      DeviceWork::Create(*settings.device->device, {.block_bytes = block_bytes,
                                                    .fft_points = settings.spec.transfer.fft_points,
                                                    .direct = settings.direct}));
  auto counts = std::make_shared<stages::verify::Counts>();
  TD_ASSIGN_OR_RETURN(SinkParts parts,
                      std::visit([&](const auto& sink) { return MakeSink(sink, settings, counts); },
                                 settings.spec.sink));
  TD_ASSIGN_OR_RETURN(auto sink, PlaybackPipeline::Create({.sink = std::move(parts.stage),
                                                           .work = std::move(work),
                                                           .block_bytes = block_bytes}));
  return Playback{.sink = std::move(sink),
                  .needs_order = parts.needs_order,
                  .damaged_blocks = parts.damaged_blocks,
                  .verify = std::move(counts),
                  .notes = std::move(parts.notes)};
}

}  // namespace tapedeck::gpu_worker::pipeline
