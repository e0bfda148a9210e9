// The annotations of an import, on their way into its recording.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "services/model/seams/recorder.h"
#include "services/model/words/note.h"
#include "services/rpc/client/recorder_client.h"

namespace tapedeck::services::tapectl {

// They are written before the seal: what is SEALED has them, whenever tapectl ends. One thread.
// Between two calls of the node it asks `go_on`, and ends at false.
class ImportMarks {
 public:
  struct Options {
    std::vector<Annotation> annotations;  // by the samples of the stream
    bool in_segments = false;             // the channel cuts what it takes
    std::function<bool()> go_on;
  };
  // `recorder` outlives it.
  ImportMarks(client::RecorderClient& recorder, Options options)
      : recorder_(recorder), options_(std::move(options)) {}

  // Of a stream in segments those whose segment has begun. What fails is tried again behind the
  // seal.
  void WriteBeforeSeal(const std::string& recording);

  // The rest. The recording is whole: what cannot be written is left out, and a note says so.
  // CANCELLED (JOB_CANCELLED): `go_on` has ended it; INVALID_ARGUMENT (PROTOCOL_VIOLATION): the
  // node's answers make no sense.
  absl::Status WriteBehindSeal(const std::string& recording, Notes* notes);

 private:
  absl::Status Write(const std::string& recording);
  // Leaves out what has failed thus: the next one, or all that follow. So many.
  size_t Skip(const absl::Status& failure);

  client::RecorderClient& recorder_;
  const Options options_;
  model::Marked marked_;
};

}  // namespace tapedeck::services::tapectl
