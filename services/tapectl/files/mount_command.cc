#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"
#include "dataplane/executor/executor.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/formats/mount/mount.h"
#include "services/formats/mount/recording_bytes.h"
#include "services/rpc/client/view_client.h"
#include "services/signal/sigmf/text.h"
#include "services/site/names.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/terminal/interrupt.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr char kNotMounted[] = "interrupted before anything was mounted";
// A program that reads has its error so soon, where nothing answers.
constexpr absl::Duration kReadTimeout = absl::Seconds(5);
constexpr int64_t kAskEveryNs = dataplane::kSecondNs;
// Failures in a row: a node that is started again is waited for so long.
constexpr int kMostFailures = 3;

struct MountOptions {
  RecordingChoice choice;
  std::string directory;
  bool gaps = false;
};

std::string MetaOf(const Recording& recording, const Timeline& timeline) {
  sigmf::Metadata metadata{.datatype = timeline.datatype,
                           .sample_rate = timeline.sample_rate,
                           .start_time_ns = timeline.start_time_ns,
                           .description = recording.description,
                           .labels = recording.labels,
                           .origin = recording.origin,
                           .group = recording.group,
                           .uid = recording.uid,
                           .recording = recording.name,
                           .state = std::string(model::NameOf(timeline.state)),
                           .block_samples = timeline.block_samples,
                           .samples = timeline.samples,
                           .annotations = recording.annotations};
  for (const CaptureStart& capture : timeline.captures) {
    metadata.runs.push_back({.sample = capture.sample, .sample_index = capture.stream_sample});
  }
  for (const SampleSpan& gap : timeline.gaps) {
    metadata.gaps.push_back({.first = gap.first, .count = gap.count, .comment = "not recorded"});
  }
  return sigmf::Encode(metadata);
}

mount::MountedFile FileOf(std::string name, std::string text) {
  const auto shared = std::make_shared<const std::string>(std::move(text));
  return {.name = std::move(name),
          .size = [shared] { return absl::StatusOr<uint64_t>(shared->size()); },
          .read = [shared](uint64_t offset, std::span<std::byte> into) -> absl::StatusOr<size_t> {
            const auto all = std::as_bytes(std::span(*shared));
            const size_t begin = std::min<uint64_t>(offset, all.size());
            const size_t bytes = std::min(into.size(), all.size() - begin);
            std::ranges::copy(all.subspan(begin, bytes), into.begin());
            return bytes;
          }};
}

// Whether the recording is still there to be read. One thread.
class Watch {
 public:
  Watch(mount::RecordingBytes& bytes, const std::atomic<bool>& interrupted)
      : bytes_(bytes), interrupted_(interrupted) {}

  bool GoOn() {
    if (interrupted_) return false;
    if (clock_.NowNs() - asked_ns_ < kAskEveryNs) return true;
    const absl::Status status = bytes_.Refresh().status();
    asked_ns_ = clock_.NowNs();
    failures_ = status.ok() ? 0 : failures_ + 1;
    if (!absl::IsNotFound(status) && failures_ < kMostFailures) return true;
    status_ = status;
    return false;
  }
  // Why it is not.
  const absl::Status& status() const { return status_; }

 private:
  mount::RecordingBytes& bytes_;
  const std::atomic<bool>& interrupted_;
  const dataplane::SystemClock clock_;
  int64_t asked_ns_ = 0;
  int failures_ = 0;
  absl::Status status_;
};

absl::Status RunMount(Program& program, const MountOptions& options) {
  InterruptWatch interrupt(kNotMounted);
  const auto catalog = program.Catalog();
  TD_ASSIGN_OR_RETURN(const Stream stream,
                      StreamThere(model::Use::kMount, options.choice, *catalog));
  const std::string& name = stream.name;
  Recording whole = Joined(stream);
  if (!stream.segmented) TD_RETURN_IF_ERROR(AddLasting(*catalog, *program.View(), &whole));
  const dataplane::SystemClock clock;
  TD_ASSIGN_OR_RETURN(
      const auto bytes,
      mount::RecordingBytes::Open(
          ViewOf(program, stream,
                 std::make_unique<client::ViewClient>(
                     client::MakeChannel(program.storage, program.trace, program.credentials),
                     std::min(kReadTimeout, program.call_timeout()))),
          {.recording = name, .gaps = options.gaps, .clock = &clock}));
  TD_ASSIGN_OR_RETURN(const Timeline timeline, bytes->Refresh());
  std::atomic<bool> interrupted = false;
  // The second one ends nothing: a process that dies now leaves a mount point that nobody serves.
  interrupt.OnInterrupt(
      [&] {
        std::cerr << "\ntapectl: unmounting " << options.directory
                  << "; press Ctrl-C a third time to quit at once" << std::endl;
        return true;
      },
      [&] { return interrupted = true; });
  Watch watch(*bytes, interrupted);
  const std::string id = name.substr(name.rfind('/') + 1);
  const absl::Status mounted = mount::Mount(
      {.directory = options.directory,
       .files = {{.name = id + ".sigmf-data",
                  .size = [&] { return bytes->Size(); },
                  .read = [&](uint64_t offset,
                              std::span<std::byte> into) { return bytes->Read(offset, into); }},
                 FileOf(id + ".sigmf-meta", MetaOf(whole, timeline))},
       .on_mounted =
           [&] {
             program.Print(AnswerOf("mounted", name),
                           absl::StrCat("mounted ", ShortName(name), " at ", options.directory,
                                        "; Ctrl-C or umount ends it"));
           },
       .go_on = [&] { return watch.GoOn(); }});
  interrupt.OnInterrupt(nullptr);
  return mounted.ok() ? watch.status() : mounted;
}

}  // namespace

void AddMountCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<MountOptions>();
  const Command command = tapectl.AddCommand(
      "mount", "Mount a recording as a read-only SigMF pair in a directory, until Ctrl-C");
  AddRecordingChoice(command, options->choice,
                     absl::StrCat(kWhichRecording, "; running or closed"));
  command.AddOption("DIR", options->directory, "Empty directory to mount on").Required();
  command.AddFlag("--gaps", options->gaps,
                  "Read zeros for missing or damaged samples; default a read error");
  SetRun<MountOptions>(command, program, "mount", options, RunMount);
}

}  // namespace tapedeck::services::tapectl
