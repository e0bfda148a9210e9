// A stream in segments looked at as one recording: each call asks for what lies in a segment of it,
// and joins the answers. Samples count from the oldest segment that there was when this was made;
// what goes since is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/model/recording/stream.h"
#include "services/model/seams/view.h"

namespace tapedeck::services::client {

// Any thread. A call asks the node as often as it touches segments, a picture once for each row at
// most.
class StreamView final : public ViewControl {
 public:
  // The stream as it is now; any thread.
  using Look = std::function<absl::StatusOr<Stream>()>;

  StreamView(std::unique_ptr<ViewControl> view, Stream stream, Look look)
      : view_(std::move(view)), look_(std::move(look)), stream_(std::move(stream)) {}

  // The recording that requests name is not looked at. Of a stream that is written all samples are
  // those that are durable, and each timeline looks how many there are. The errors of the node; of
  // pictures and samples INVALID_ARGUMENT (ARGUMENT_INVALID): the stream has not so many.
  absl::StatusOr<Timeline> GetTimeline(const std::string& recording) override
      ABSL_LOCKS_EXCLUDED(look_mutex_, mutex_);
  absl::StatusOr<Spectrogram> ReadSpectrogram(const SpectrogramRequest& request) override
      ABSL_LOCKS_EXCLUDED(look_mutex_, mutex_);
  absl::StatusOr<Samples> ReadSamples(const SamplesRequest& request) override
      ABSL_LOCKS_EXCLUDED(look_mutex_, mutex_);
  absl::StatusOr<Envelope> ReadEnvelope(const EnvelopeRequest& request) override
      ABSL_LOCKS_EXCLUDED(look_mutex_, mutex_);

  // Samples of one segment side by side; without a segment they are gone.
  struct Part {
    std::string segment;
    SampleSpan span;       // in the stream
    uint64_t skipped = 0;  // samples of the segment before it
  };
  // Where the stream's samples lie: one part behind the other, from 0 on.
  struct Extent {
    std::vector<Part> parts;
    uint64_t samples = 0;
    std::string datatype;
  };

 private:
  // The oldest segment that is known stays, so that samples count on from there.
  absl::Status LookAgain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mutex_);
  absl::StatusOr<Timeline> TimelineOf(const Recording& segment)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(look_mutex_);
  absl::StatusOr<std::shared_ptr<const Extent>> ExtentNow()
      ABSL_LOCKS_EXCLUDED(look_mutex_, mutex_);

  const std::unique_ptr<ViewControl> view_;
  const Look look_;

  absl::Mutex look_mutex_;  // held while the node is asked for a timeline
  Stream stream_ ABSL_GUARDED_BY(look_mutex_);
  std::map<std::string, Timeline> closed_ ABSL_GUARDED_BY(look_mutex_);  // by segment

  absl::Mutex mutex_;
  std::shared_ptr<const Extent> extent_ ABSL_GUARDED_BY(mutex_);  // null: not known yet
};

}  // namespace tapedeck::services::client
