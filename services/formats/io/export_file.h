// The file of an export until it is complete: TARGET.export, and beside it TARGET.export.json, the
// mark, which says whose it is and how far; or a stream, which has neither. One thread that may
// wait.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"
#include "services/formats/io/output.h"
#include "services/formats/io/subject.h"

namespace tapedeck::services::formats {

// What an export makes. Another one does not go on with its file.
struct ExportKey {
  std::string uid;  // of the recording
  std::string format;
  uint64_t first_sample = 0;
  uint64_t bytes = 0;  // of samples
  bool operator==(const ExportKey&) const = default;
};

// How far it is.
struct ExportMark {
  ExportKey key;
  uint64_t offset = 0;      // of the next sample's first byte
  uint64_t file_bytes = 0;  // that are durable
  Seen seen;
};

class ExportFile {
 public:
  struct Options {
    std::string target;
    ExportKey key;
    bool resumable = false;  // what is there is kept when it fails
    bool resume = false;     // goes on with what is there
  };
  // ALREADY_EXISTS (FILE_EXISTS): the target is there, or an export of it, which another process is
  // at, which is of something else, or which is not to be gone on with; INVALID_ARGUMENT
  // (FILE_INVALID): its mark is none; NOT_FOUND (FILE_NOT_FOUND): its folder takes no new file.
  static absl::StatusOr<std::unique_ptr<ExportFile>> Open(const Options& options);

  // What is exported into a stream, which outlives it, and cannot be gone on with.
  static std::unique_ptr<ExportFile> Into(const std::string& path, OutputStream& stream);

  // Removes the file and its mark, unless it was published or kept, or was there before.
  ~ExportFile();

  Output& output() { return *output_; }
  ExportMark& mark() { return mark_; }
  // So many bytes of samples more have been written, and nothing else.
  void Advance(uint64_t bytes);
  bool resumed() const { return resumed_; }

  // What has been written is durable, and the mark says so.
  absl::Status Save();

  // It has failed. Whether what there is can be gone on with; it stays then.
  bool Keep();

  // It is complete and has the target's name. A target that came meanwhile stays.
  absl::Status Publish();

 private:
  explicit ExportFile(const Options& options);

  absl::Status OpenNew();
  absl::Status OpenOld();
  // Of the file that its name leads to, which no other process then writes.
  absl::Status LockOld();

  const Options options_;
  const std::string path_;
  const std::string mark_path_;
  dataplane::Fd fd_;
  std::unique_ptr<Output> output_;
  ExportMark mark_;
  bool streams_ = false;
  bool resumed_ = false;
  bool ours_ = false;   // made or gone on with by this process
  bool saved_ = false;  // there is a mark
  uint64_t saved_offset_ = 0;
  bool kept_ = false;  // whatever happens
};

// The text of a mark: JSON with a name and a version of its own.
std::string EncodeMark(const ExportMark& mark);
// INVALID_ARGUMENT (FILE_INVALID) names `path`.
absl::StatusOr<ExportMark> DecodeMark(const std::string& path, const std::string& text);

}  // namespace tapedeck::services::formats
