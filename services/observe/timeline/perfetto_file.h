// Writes a timeline as a Perfetto trace (https://ui.perfetto.dev), packet by packet. The file is
// written beside its name and takes it when it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/files/part_file.h"

namespace tapedeck::services::timeline {

// Tracks are named by numbers of the caller's choice, none 0. A track comes before what is on it.
struct Track {
  uint64_t id = 0;
  uint64_t parent = 0;  // 0: none
  std::string name;
};

// What is said of an event. Text is not copied.
struct Note {
  absl::string_view name;
  absl::string_view text;  // empty: `number` is meant
  int64_t number = 0;
};

struct Event {
  uint64_t track = 0;
  int64_t time_ns = 0;
  absl::string_view name;
  uint64_t flow = 0;  // arrows join events of the same; 0: none
  std::vector<Note> notes = {};
};

// One thread.
class PerfettoFile {
 public:
  // The errors of PartFile. RESOURCE_EXHAUSTED (LIMIT_REACHED) from any call: the file would be
  // larger than `limit_bytes`.
  static absl::StatusOr<std::unique_ptr<PerfettoFile>> Create(const std::string& path, bool replace,
                                                              uint64_t limit_bytes);

  // A node; its tracks have it as their parent. `pid` is the timeline's own.
  absl::Status AddNode(const Track& track, int32_t pid);
  // A thread of a node.
  absl::Status AddThread(const Track& track, int32_t pid, int32_t tid);
  absl::Status AddTrack(const Track& track);
  absl::Status AddCounter(const Track& track, const std::string& unit);

  absl::Status Begin(const Event& event);
  absl::Status End(uint64_t track, int64_t time_ns);
  absl::Status Instant(const Event& event);
  absl::Status Count(uint64_t track, int64_t time_ns, int64_t value);

  // Gives the file its name. Without it nothing is left.
  absl::Status Finish();

  uint64_t bytes() const { return bytes_; }

 private:
  PerfettoFile(std::unique_ptr<files::PartFile> file, uint64_t limit_bytes)
      : file_(std::move(file)), limit_bytes_(limit_bytes) {}

  template <typename Packet>
  absl::Status Write(Packet& packet);
  absl::Status Flush();

  const std::unique_ptr<files::PartFile> file_;
  const uint64_t limit_bytes_;
  std::string buffer_;  // not yet written
  uint64_t bytes_ = 0;
  bool begun_ = false;
};

}  // namespace tapedeck::services::timeline
