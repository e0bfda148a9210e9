#include "gpu_worker/pipeline/pipeline_factory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/pace/timer.h"
#include "gpu_worker/pipeline/chain.h"
#include "gpu_worker/pipeline/record_origin.h"
#include "gpu_worker/pipeline/second_output_factory.h"
#include "gpu_worker/stages/list.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

using dataplane::ParseDatatype;
using services::ArgumentInvalid;

// An H200 computes and copies half of this in the time of the calls for it, on a slow processor.
constexpr uint64_t kMadeAtOnce = 2 << 20;
// What is played comes block by block, and often alone: larger slots would only be fewer.
constexpr uint64_t kPlayedAtOnce = 512 << 10;
constexpr uint64_t kMostAtOnce = 8;

size_t BlocksIn(uint64_t bytes, uint64_t block_bytes,
                const std::vector<stages::ChosenTransform>& transforms,
                const device::Device& device) {
  const auto apart = [](const stages::ChosenTransform& transform) {
    return transform.description.triggers || !transform.description.in_place;
  };
  if (device.info().works_in_host_memory || std::ranges::any_of(transforms, apart)) return 1;
  return std::clamp<uint64_t>(bytes / block_bytes, 1, kMostAtOnce);
}

// A block with a time goes alone, and one that lies in memory of the device is not copied.
size_t BlocksAtOnce(const PlaybackSettings& settings) {
  if (settings.direct || settings.pace.has_value()) return 1;
  return BlocksIn(kPlayedAtOnce, settings.channel.block_bytes, settings.stages.transforms,
                  *settings.device->device);
}

absl::Status CheckChannel(const ChannelSettings& channel) {
  if (const auto datatype = ParseDatatype(channel.datatype); !datatype.ok()) {
    return services::DatatypeInvalid(channel.datatype, datatype.status().message());
  }
  if (channel.block_bytes == 0 || channel.block_bytes % 4096 != 0) {
    return services::BlockSizeInvalid(
        channel.block_bytes,
        absl::StrCat("block size ", channel.block_bytes, " is not a multiple of 4096"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<stages::ChosenTransform>> ChooseTransforms(
    const std::vector<services::StageSpec>& specs) {
  std::vector<stages::ChosenTransform> transforms;
  for (const services::StageSpec& spec : specs) {
    TD_ASSIGN_OR_RETURN(transforms.emplace_back(), stages::ChooseTransform(spec));
  }
  TD_RETURN_IF_ERROR(CheckOrder(transforms));
  return transforms;
}

// `block_bytes` are those of the source's blocks.
uint64_t ExpectedBlocks(const RecordSettings& settings, uint64_t source_bytes,
                        uint64_t block_bytes) {
  const uint64_t in_source = (source_bytes + block_bytes - 1) / block_bytes;
  if (settings.spec.blocks == 0) return settings.spec.duration_ns == 0 ? in_source : 0;
  return in_source == 0 ? settings.spec.blocks : std::min(settings.spec.blocks, in_source);
}

// A source that waits for samples from elsewhere has them by itself from then on.
double RateFromAt(const RecordSettings& settings) {
  const bool makes = !settings.stages.source.description.waits;
  return settings.spec.transfer.group.has_value() && makes ? settings.channel.sample_rate : 0;
}

// None: it begins at no instant.
absl::StatusOr<std::unique_ptr<pace::Timer>> TimerFor(const RecordSettings& settings) {
  if (settings.spec.at_ns == 0) return nullptr;
  return pace::SystemTimer::Create();
}

absl::Status CheckRecord(const RecordSettings& settings) {
  TD_RETURN_IF_ERROR(CheckChannel(settings.channel));
  if (settings.ring->slot_bytes() < settings.channel.block_bytes) {
    return ArgumentInvalid("slots",
                           absl::StrCat("the ring's slots of ", settings.ring->slot_bytes(),
                                        " bytes are smaller than a block"));
  }
  if (settings.ring->run() > 1 && settings.ring->slot_bytes() != settings.channel.block_bytes) {
    return ArgumentInvalid(
        "slots", absl::StrCat("the ring lends runs of slots of ", settings.ring->slot_bytes(),
                              " bytes, in which blocks would not lie side by side"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Chain> ChainOf(const RecordSettings& settings) {
  const auto& [source, transforms, second_output] = settings.stages;
  return RecordChain({.name = source.name, .datatype = source.description.gives}, transforms,
                     {.name = "the channel", .datatype = settings.channel.datatype},
                     settings.channel.block_bytes);
}

absl::StatusOr<Chain> ChainOf(const PlaybackSettings& settings) {
  TD_ASSIGN_OR_RETURN(Chain chain,
                      PlaybackChain({.name = "the recording",
                                     .datatype = services::model::SampleType(
                                         settings.origin, settings.channel.datatype)},
                                    settings.stages.transforms, settings.channel.block_bytes));
  if (chain.samples_for_one == 1 || !settings.pace.has_value()) return chain;
  return ArgumentInvalid("transforms",
                         "a playback with a rate or a time takes no transform that changes the "
                         "number of samples");
}

std::vector<services::model::OriginStage> Applied(
    const std::vector<stages::ChosenTransform>& transforms) {
  std::vector<services::model::OriginStage> applied;
  for (const stages::ChosenTransform& transform : transforms) applied.push_back(StageOf(transform));
  return applied;
}

absl::StatusOr<std::optional<pace::PacerSettings>> PacerOf(const PlaybackSettings& settings,
                                                           const Chain& chain,
                                                           const stages::MadeSink& sink) {
  if (!settings.pace.has_value()) return std::nullopt;
  TD_ASSIGN_OR_RETURN(const size_t sample_bytes, SampleBytesOf(chain.gives));
  pace::PacerSettings parts{.plan = *settings.pace};
  TD_ASSIGN_OR_RETURN(parts.assembler,
                      pace::MakeAssembler(parts.plan, {.block_bytes = chain.bytes_after(),
                                                       .sample_bytes = sample_bytes,
                                                       .sample_rate = settings.channel.sample_rate,
                                                       .reads_payload = sink.stage->reads_payload(),
                                                       .damaged_blocks = sink.damaged_blocks}));
  TD_ASSIGN_OR_RETURN(parts.timer, pace::SystemTimer::Create());
  return parts;
}

// What is known of a recording once its source is made.
Recording RecordingOf(stages::MadeSource& made, uint64_t blocks) {
  return {
      .expected_blocks = blocks, .notes = std::move(made.notes), .report = std::move(made.report)};
}

// What the source tells is told of the second recording as well: so many samples of the source are
// one of it.
void AddSecond(SecondRecording second, uint64_t samples_for_one, Recording* recording) {
  if (recording->report != nullptr) {
    second.report = recording->report->Second();
    second.report->CountIn(samples_for_one);
  }
  recording->second_output = std::move(second);
}

}  // namespace

absl::StatusOr<size_t> SampleBytesOf(const std::string& datatype) {
  const auto parsed = ParseDatatype(datatype);
  if (!parsed.ok()) return services::DatatypeInvalid(datatype, parsed.status().message());
  return parsed->bytes_per_sample();
}

absl::StatusOr<RecordStages> ChooseStages(const services::RecordSpec& spec) {
  RecordStages out;
  TD_ASSIGN_OR_RETURN(out.source, stages::ChooseSource(spec.source));
  TD_ASSIGN_OR_RETURN(out.transforms, ChooseTransforms(spec.transfer.transforms));
  if (!spec.outputs.empty()) {
    TD_ASSIGN_OR_RETURN(out.second_output, ChooseTransforms(spec.outputs.front().transforms));
    TD_RETURN_IF_ERROR(CheckSecondOutput(out.transforms, *out.second_output));
  }
  if (!out.source.description.ends && !spec.limited()) {
    return ArgumentInvalid("limit", "limit is missing: this source does not end");
  }
  return out;
}

absl::StatusOr<PlaybackStages> ChooseStages(const services::PlaybackSpec& spec) {
  PlaybackStages out;
  TD_ASSIGN_OR_RETURN(out.transforms, ChooseTransforms(spec.transfer.transforms));
  TD_RETURN_IF_ERROR(CheckTriggersNothing(out.transforms, "a playback has none"));
  TD_ASSIGN_OR_RETURN(out.sink, stages::ChooseSink(spec.sink));
  return out;
}

size_t BlocksAtOnce(const RecordStages& stages, uint64_t block_bytes,
                    const device::Device& device) {
  if (stages.source.description.waits || stages.second_output.has_value()) return 1;
  return BlocksIn(kMadeAtOnce, block_bytes, stages.transforms, device);
}

absl::StatusOr<Recording> CreateRecording(RecordSettings settings) {
  TD_RETURN_IF_ERROR(CheckRecord(settings));
  TD_ASSIGN_OR_RETURN(const Chain chain, ChainOf(settings));
  const auto& [source, transforms, second_output] = settings.stages;
  const uint64_t block_bytes = settings.channel.block_bytes;
  const double rate = settings.channel.sample_rate * static_cast<double>(chain.samples_for_one);
  TD_ASSIGN_OR_RETURN(stages::MadeSource made,
                      source.create({.device = settings.device->device.get(),
                                     .datatype = chain.takes,
                                     .sample_rate = rate,
                                     .block_bytes = chain.bytes_before(),
                                     .at_ns = settings.spec.at_ns,
                                     .in_group = settings.spec.transfer.group.has_value(),
                                     .transformed = !transforms.empty(),
                                     .files = std::move(settings.files)}));
  if (made.report != nullptr) made.report->CountIn(chain.samples_for_one);
  TD_ASSIGN_OR_RETURN(const auto datatype, ParseDatatype(chain.gives));
  TD_ASSIGN_OR_RETURN(auto work,
                      DeviceWork::Create(*settings.device->device,
                                         {.block_bytes = block_bytes,
                                          .transforms = transforms,
                                          .sizes = chain.block_bytes,
                                          .direct = !settings.ring->window().host_accessible,
                                          .at_once = settings.ring->run()}));
  Recording out = RecordingOf(made, ExpectedBlocks(settings, made.bytes, chain.bytes_before()));
  TD_ASSIGN_OR_RETURN(out.origin, OriginOf({.source = source,
                                            .transforms = transforms,
                                            .made = made,
                                            .datatype = chain.gives,
                                            .device = settings.device->description}));
  std::unique_ptr<SecondOutput> output;
  if (second_output.has_value()) {
    TD_RETURN_IF_ERROR(CheckChannel(settings.second_output.channel));
    TD_ASSIGN_OR_RETURN(MadeSecondOutput second, MakeSecondOutput({.settings = settings,
                                                                   .blocks = out.expected_blocks,
                                                                   .made = made,
                                                                   .queue = &work->queue()}));
    output = std::move(second.second_output);
    AddSecond(std::move(second.recording), chain.samples_for_one * second.samples_for_one, &out);
  }
  TD_ASSIGN_OR_RETURN(auto timer, TimerFor(settings));
  TD_ASSIGN_OR_RETURN(out.source,
                      RecordPipeline::Create(RecordPlan{.source = std::move(made.stage),
                                                        .second_output = std::move(output),
                                                        .work = std::move(work),
                                                        .ring = std::move(settings.ring),
                                                        .clock = settings.clock,
                                                        .executor = settings.executor,
                                                        .block_bytes = block_bytes,
                                                        .sample_bytes = datatype.bytes_per_sample(),
                                                        .spec = settings.spec,
                                                        .samples_per_s = RateFromAt(settings),
                                                        .timer = std::move(timer),
                                                        .meter = std::move(settings.meter),
                                                        .trail = settings.trail}));
  return out;
}

absl::StatusOr<Playback> CreatePlayback(PlaybackSettings settings) {
  TD_RETURN_IF_ERROR(CheckChannel(settings.channel));
  TD_ASSIGN_OR_RETURN(const Chain chain, ChainOf(settings));
  const auto& [transforms, sink] = settings.stages;
  const uint64_t block_bytes = settings.channel.block_bytes;
  const bool cut = settings.pace.has_value() && settings.pace->range.has_value();
  const bool loops = cut && settings.pace->loop;
  const auto samples_for_one = static_cast<double>(chain.samples_for_one);
  if (loops || chain.samples_for_one != 1) settings.annotations.clear();
  // Before the sink, which may make a file.
  TD_ASSIGN_OR_RETURN(
      auto work, DeviceWork::Create(*settings.device->device, {.block_bytes = block_bytes,
                                                               .transforms = transforms,
                                                               .sizes = chain.block_bytes,
                                                               .from_network = true,
                                                               .direct = settings.direct,
                                                               .at_once = BlocksAtOnce(settings)}));
  TD_ASSIGN_OR_RETURN(stages::MadeSink made,
                      sink.create({.files = std::move(settings.files),
                                   .destinations = std::move(settings.destinations),
                                   .block_bytes = chain.bytes_after(),
                                   .blocks = settings.blocks,
                                   .origin = std::move(settings.origin),
                                   .transforms = Applied(transforms),
                                   .datatype = chain.gives,
                                   .sample_rate = settings.channel.sample_rate / samples_for_one,
                                   .annotations = std::move(settings.annotations),
                                   .cut = cut,
                                   .loops = loops}));
  TD_ASSIGN_OR_RETURN(auto pacer, PacerOf(settings, chain, made));
  const bool in_order = made.needs_order || pacer.has_value();
  TD_ASSIGN_OR_RETURN(const size_t sample_bytes, SampleBytesOf(chain.gives));
  TD_ASSIGN_OR_RETURN(auto pipeline,
                      PlaybackPipeline::Create({.sink = std::move(made.stage),
                                                .work = std::move(work),
                                                .block_bytes = block_bytes,
                                                .trail = settings.trail,
                                                .pace = std::move(pacer),
                                                .block_samples = chain.bytes_after() / sample_bytes,
                                                .times = settings.times}));
  return Playback{.sink = std::move(pipeline),
                  .needs_order = in_order,
                  .damaged_blocks = made.damaged_blocks,
                  .notes = std::move(made.notes),
                  .report = std::move(made.report),
                  .compared = std::move(made.compared)};
}

}  // namespace tapedeck::gpu_worker::pipeline
