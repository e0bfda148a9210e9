#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/admission/new_recording.h"
#include "storage_node/admission/resumed.h"
#include "storage_node/admission/session_plan.h"
#include "storage_node/capture/segment_sink.h"
#include "storage_node/capture/trigger_sink.h"
#include "storage_node/recordings/metadata_writer.h"

namespace tapedeck::storage_node::admission {
namespace {

using dataplane::ladder::FittedRing;
using services::session::Admission;
using services::session::Open;

// How many samples of a stream fall into a time, at least; no double is precise beyond 2^53.
uint64_t SamplesIn(int64_t ns, double sample_rate) {
  const double samples = static_cast<double>(ns) / 1e9 * sample_rate;
  return static_cast<uint64_t>(std::min(std::ceil(samples), 9.0e15));
}

Admission AdmissionOf(const NodeResources& resources, const RecordTarget& target, FittedRing fitted,
                      std::shared_ptr<dataplane::ArrivalCrcs> arrivals) {
  return {.ring = std::move(fitted.ring),
          .accept = {.datatype = target.channel.datatype,
                     .sample_rate = target.channel.sample_rate,
                     .op = target.op,
                     .commit = target.channel.commit,
                     .block_bytes = target.channel.block_bytes,
                     .resume_token = TokenBytes(target.resume_token)},
          .verifier = [verifier = resources.verifier] { return verifier->value(); },
          .arrivals = std::move(arrivals),
          .registration = std::move(fitted.registration),
          .stages = target.stages};
}

// The same for every recording of a session.
std::shared_ptr<dataplane::ArrivalCrcs> NewArrivals(const RecordTarget& target) {
  return std::make_shared<dataplane::ArrivalCrcs>(format::PieceBytesOf(target.channel.block_bytes));
}

RingNeed RingOf(const RecordTarget& target, size_t held_slots = 0) {
  return {.lun = target.lun,
          .block_bytes = target.channel.block_bytes,
          .op = target.op,
          .held_slots = held_slots};
}

// What is known before a recording begins: a LUN that is larger than its disks, and a length that
// these have no room for. A ring makes room itself. On the LUN's queue.
absl::Status CheckDisks(const RecordTarget& target) {
  const auto lun = target.lun->config.now();
  const auto space = luns::SpaceOf(*lun);
  if (const std::string note = luns::Shortage(target.lun->capacity->limit(), space);
      !note.empty()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "record", "LUN larger than its disks",
                   {{"lun", lun->name}, {"channel", target.channel.name}, {"note", note}});
  }
  const uint64_t blocks = std::min(target.open.expected_blocks, kMaxBlocks);
  if (blocks == 0 || lun->full_policy == services::FullPolicy::kRing) return absl::OkStatus();
  return luns::CheckFree(*lun, BytesOfOne(target, blocks), target.lun->capacity->used(), space);
}

absl::StatusOr<MakeAdmission> OpenRecord(NodeResources& resources, const RecordTarget& target,
                                         FittedRing fitted, dataplane::Executor& executor) {
  TD_RETURN_IF_ERROR(CheckDisks(target));
  auto arrivals = NewArrivals(target);
  TD_ASSIGN_OR_RETURN(
      auto arm, PrepareRecording(resources, target, fitted.ring->slots(), arrivals, executor));
  return
      [&resources, target, arrivals, fitted = std::move(fitted), arm = std::move(arm)]() mutable {
        Admission admission = AdmissionOf(resources, target, std::move(fitted), arrivals);
        capture::ArmedRecording recording = arm();
        admission.accept.recording = recording.name;
        admission.sink = std::move(recording.writer);
        return admission;
      };
}

absl::StatusOr<capture::TriggerWindow> WindowOf(const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const auto datatype, dataplane::ParseDatatype(channel.datatype));
  return capture::TriggerWindow{
      .before_samples = SamplesIn(channel.pre_trigger_ns, channel.sample_rate),
      .after_samples = SamplesIn(channel.post_trigger_ns, channel.sample_rate),
      .block_bytes = channel.block_bytes,
      .sample_bytes = datatype.bytes_per_sample(),
      .sample_rate = channel.sample_rate};
}

// Runs `prepare` on the LUN's queue and gives what came of it to `made` on the executor.
void PrepareLater(NodeResources& resources, const std::string& lun, dataplane::Executor& executor,
                  std::function<absl::StatusOr<capture::ArmRecording>()> prepare,
                  capture::OnPrepared made) {
  resources.luns.queues().Of(lun)->Run([&executor, prepare = std::move(prepare),
                                        made = std::move(made)]() mutable {
    executor.Post([arm = prepare(), made = std::move(made)]() mutable { made(std::move(arm)); });
  });
}

// What every segment of a session is made from. The first one names the stream.
struct Segments {
  NodeResources& resources;
  RecordTarget target;
  size_t ring_slots;
  std::shared_ptr<dataplane::ArrivalCrcs> arrivals;
  dataplane::Executor& executor;

  absl::StatusOr<capture::ArmRecording> Prepare(uint64_t number) const {
    RecordTarget segment = target;
    segment.segment = number;
    return PrepareRecording(resources, segment, ring_slots, arrivals, executor);
  }
};

// Runs `write` on a thread beside the LUN's queue, which makes segments meanwhile, and then `done`
// on the executor.
void WriteLater(NodeResources& resources, const std::string& lun, dataplane::Executor& executor,
                std::function<void(recordings::MetadataWriter)> write, dataplane::Task done) {
  resources.luns.queues()
      .Of(absl::StrCat(lun, " keeps"))
      ->Run([&resources, &executor, write = std::move(write), done = std::move(done)]() mutable {
        write(recordings::MetadataWriter(resources.recordings));
        executor.Post(std::move(done));
      });
}

void WriteEnd(recordings::MetadataWriter metadata, const capture::StreamEnd& end) {
  const absl::Status status = metadata.Conclude(end);
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kError, "record",
                 "a stream's last segment does not say why it ended",
                 {{"recording", end.recording}, {"error", std::string(status.message())}});
}

void WriteCaught(recordings::MetadataWriter metadata, capture::Caught& caught,
                 const services::Trigger& trigger) {
  const absl::Status status = metadata.WriteDown(caught, trigger);
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kError, "record", "a triggered capture is incomplete",
                 {{"recording", caught.capture.recording},
                  {"trigger_sample", absl::StrCat(*trigger.sample)},
                  {"error", std::string(status.message())}});
}

capture::SegmentOptions OptionsOf(const Segments& segments, const capture::TriggerWindow& window) {
  capture::SegmentOptions options{.segment_blocks = segments.target.segment_blocks};
  options.keeper.window = window;
  // Whether one that is closed is still there is seen when it is told that it is kept.
  options.keeper.pin = [&resources = segments.resources](
                           const std::string& recording,
                           bool writing) -> std::shared_ptr<recording::Hold> {
    if (writing) return resources.recordings.leases().TakeBeside(recording);
    return resources.recordings.leases().TakeShared(recording);
  };
  options.make = [segments](uint64_t number, capture::OnPrepared made) {
    PrepareLater(
        segments.resources, segments.target.name.lun, segments.executor,
        [segments, number] { return segments.Prepare(number); }, std::move(made));
  };
  options.conclude = [segments](capture::StreamEnd end, dataplane::Task done) {
    WriteLater(
        segments.resources, segments.target.name.lun, segments.executor,
        [end = std::move(end)](recordings::MetadataWriter metadata) { WriteEnd(metadata, end); },
        std::move(done));
  };
  return options;
}

std::unique_ptr<capture::SegmentSink> SinkOf(const Segments& segments,
                                             capture::SegmentOptions options,
                                             std::vector<capture::ArmedRecording> armed) {
  capture::ArmedRecording first = std::move(armed.front());
  armed.erase(armed.begin());
  const bool triggered = segments.target.channel.triggered();
  if (triggered) {
    options.write_down = [&resources = segments.resources, lun = segments.target.name.lun,
                          &executor = segments.executor](capture::Caught caught,
                                                         const services::Trigger& trigger,
                                                         dataplane::Task done) {
      WriteLater(
          resources, lun, executor,
          [caught = std::move(caught), trigger](recordings::MetadataWriter metadata) mutable {
            WriteCaught(metadata, caught, trigger);
          },
          std::move(done));
    };
  }
  auto sink = std::make_unique<capture::SegmentSink>(std::move(options), std::move(first),
                                                     segments.executor, std::move(armed));
  if (triggered) {
    segments.resources.triggers.Add(segments.target.channel.name, sink->port());
  }
  return sink;
}

absl::StatusOr<MakeAdmission> OpenSegmented(NodeResources& resources, RecordTarget target,
                                            FittedRing fitted, dataplane::Executor& executor) {
  TD_RETURN_IF_ERROR(CheckDisks(target));
  if (target.lun->config->full_policy == services::FullPolicy::kStop &&
      target.open.expected_blocks > 0) {
    TD_ASSIGN_OR_RETURN(recording::Reservation room,
                        ReserveRoom(resources, target, target.open.expected_blocks));
    target.room = std::make_shared<recording::Reservation>(std::move(room));
  }
  TD_ASSIGN_OR_RETURN(const capture::TriggerWindow window, WindowOf(target.channel));
  const auto arrivals = NewArrivals(target);
  Segments segments{resources, std::move(target), fitted.ring->slots(), arrivals, executor};
  TD_ASSIGN_OR_RETURN(auto arm, segments.Prepare(0));
  return [segments, window, fitted = std::move(fitted), arm = std::move(arm)]() mutable {
    NodeResources& node = segments.resources;
    capture::ArmedRecording first = arm();
    segments.target.stream = first.name.substr(first.name.rfind('/') + 1);
    Admission admission = AdmissionOf(node, segments.target, std::move(fitted), segments.arrivals);
    admission.accept.recording = first.name;
    std::vector<capture::ArmedRecording> armed;
    armed.push_back(std::move(first));
    admission.sink = SinkOf(segments, OptionsOf(segments, window), std::move(armed));
    return admission;
  };
}

absl::StatusOr<MakeAdmission> OpenResumed(NodeResources& resources, const Resumable& found,
                                          FittedRing fitted, dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(const capture::TriggerWindow window, WindowOf(found.target.channel));
  const auto arrivals = NewArrivals(found.target);
  const size_t slots = fitted.ring->slots();
  TD_ASSIGN_OR_RETURN(ResumedRecordings resumed,
                      Reopen(resources, found, slots, arrivals, executor));
  Segments segments{resources, found.target, slots, arrivals, executor};
  return [segments, window, first_number = found.rows.front().manifest.segment,
          fitted = std::move(fitted), resumed = std::move(resumed)]() mutable {
    const RecordTarget& target = segments.target;
    Admission admission =
        AdmissionOf(segments.resources, target, std::move(fitted), segments.arrivals);
    admission.accept.recording = target.open.resume->recording;
    admission.accept.next_block = resumed.next_block;
    admission.accept.missing_blocks = resumed.missing_blocks;
    std::vector<capture::ArmedRecording> armed;
    for (capture::ArmRecording& arm : resumed.recordings) armed.push_back(arm());
    if (target.stream.empty()) {
      admission.sink = std::move(armed.front().writer);
    } else {
      capture::SegmentOptions options = OptionsOf(segments, window);
      options.first_number = first_number;
      admission.sink = SinkOf(segments, std::move(options), std::move(armed));
    }
    return admission;
  };
}

absl::StatusOr<SessionPlan> PlanResumed(NodeResources& resources, const Open& open,
                                        dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(Resumable found, FindResumable(resources, open));
  return SessionPlan{.ring = RingOf(found.target),
                     .open = [&resources, &executor, found](FittedRing fitted) {
                       return OpenResumed(resources, found, std::move(fitted), executor);
                     }};
}

// What a capture is recorded into. How long the stream will be says nothing about its captures. No
// LUN is held while a session waits for triggers: one that is lost can come back.
RecordTarget CaptureOf(const RecordTarget& target, const capture::TriggerWindow& window) {
  RecordTarget capture = target;
  capture.open.expected_blocks = 0;
  if (target.lun->config->full_policy == services::FullPolicy::kRing) {
    capture.open.expected_blocks = window.BlocksFor(window.before_samples + window.after_samples);
  }
  capture.lun = nullptr;
  return capture;
}

// How a session into a triggered channel makes the recordings of its captures.
struct Captures {
  NodeResources& resources;
  RecordTarget target;  // without a LUN
  size_t ring_slots;
  std::shared_ptr<dataplane::ArrivalCrcs> arrivals;
  dataplane::Executor& executor;
  // Of the channel, which is not deleted meanwhile.
  std::shared_ptr<recording::Hold> lease;

  absl::StatusOr<capture::ArmRecording> Prepare(services::model::SampleTime begin_ns) const {
    RecordTarget one = target;
    one.begin_ns = begin_ns;
    TD_ASSIGN_OR_RETURN(one.lun, resources.luns.Find(one.name.lun));
    return PrepareRecording(resources, one, ring_slots, arrivals, executor);
  }
};

capture::TriggerOptions OptionsOf(const Captures& captures, capture::TriggerOptions options) {
  options.make = [captures](services::model::SampleTime begin_ns, capture::OnPrepared made) {
    PrepareLater(
        captures.resources, captures.target.name.lun, captures.executor,
        [captures, begin_ns] { return captures.Prepare(begin_ns); }, std::move(made));
  };
  options.check = [&luns = captures.resources.luns, lun = captures.target.name.lun] {
    return luns.Find(lun).status();
  };
  return options;
}

absl::StatusOr<MakeAdmission> OpenTriggered(NodeResources& resources, const RecordTarget& target,
                                            const capture::TriggerOptions& options,
                                            FittedRing fitted, dataplane::Executor& executor) {
  Captures captures{resources,
                    CaptureOf(target, options.window),
                    fitted.ring->slots(),
                    NewArrivals(target),
                    executor,
                    resources.recordings.leases().TakeShared(target.channel.name)};
  if (captures.lease == nullptr) {
    return services::ChannelInUse(target.channel.name, "is being deleted");
  }
  TD_RETURN_IF_ERROR(resources.recordings.FindChannel(target.name).status());
  // A LUN that is full now is told before anybody triggers.
  TD_RETURN_IF_ERROR(ReserveRoom(resources, target, captures.target.open.expected_blocks).status());
  return [&resources, &executor, captures = std::move(captures), options, target,
          fitted = std::move(fitted)]() mutable {
    auto sink = std::make_unique<capture::TriggerSink>(OptionsOf(captures, options), executor);
    resources.triggers.Add(target.channel.name, sink->port());
    Admission admission = AdmissionOf(resources, target, std::move(fitted), captures.arrivals);
    admission.captures = [made = sink.get()] { return made->captures(); };
    admission.sink = std::move(sink);
    return admission;
  };
}

// How long a disk may take to make a recording before the session holds its worker up.
constexpr int64_t kMakingNs = 200'000'000;

absl::StatusOr<SessionPlan> PlanTriggered(NodeResources& resources, const RecordTarget& target,
                                          dataplane::Executor& executor) {
  capture::TriggerOptions options;
  TD_ASSIGN_OR_RETURN(options.window, WindowOf(target.channel));
  options.hold_blocks = options.window.BlocksFor(options.window.before_samples);
  options.making_blocks =
      options.window.BlocksFor(SamplesIn(kMakingNs, target.channel.sample_rate));
  return SessionPlan{.ring = RingOf(target, options.hold_blocks + options.making_blocks),
                     .triggered = target.channel.name,
                     .open = [&resources, &executor, target, options](FittedRing fitted) {
                       return OpenTriggered(resources, target, options, std::move(fitted),
                                            executor);
                     }};
}

}  // namespace

absl::StatusOr<SessionPlan> PlanRecord(NodeResources& resources, const Open& open,
                                       dataplane::Executor& executor) {
  if (open.resume.has_value()) return PlanResumed(resources, open, executor);
  TD_ASSIGN_OR_RETURN(RecordTarget target, FindTarget(resources, open));
  TD_RETURN_IF_ERROR(CheckPart(target));
  TD_RETURN_IF_ERROR(CheckWhole(resources, target));
  if (target.channel.triggered() && target.channel.commit == dataplane::CommitLevel::kReceived) {
    return PlanTriggered(resources, target, executor);
  }
  target.resume_token = NewResumeToken(resources);
  SessionPlan plan{.ring = RingOf(target)};
  if (target.segment_blocks > 0) {
    plan.open = [&resources, &executor, target](FittedRing fitted) {
      return OpenSegmented(resources, target, std::move(fitted), executor);
    };
  } else {
    plan.open = [&resources, &executor, target](FittedRing fitted) {
      return OpenRecord(resources, target, std::move(fitted), executor);
    };
  }
  return plan;
}

}  // namespace tapedeck::storage_node::admission
