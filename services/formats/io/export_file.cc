#include "services/formats/io/export_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/base/files/input_file.h"
#include "services/base/files/part_file.h"
#include "services/signal/sigmf/foreign_json.h"

namespace tapedeck::services::formats {

using files::NotFound;
using files::WriteFailed;

namespace {

// Gaps and runs of the largest.
constexpr uint64_t kMaxMarkBytes = 8 << 20;

bool IsThere(const std::string& path) {
  struct stat info = {};
  return lstat(path.c_str(), &info) == 0;
}

absl::Status Refused(const std::string& path, absl::string_view why) {
  return files::FileExists(path, absl::StrCat(path, " ", why));
}

void Unlink(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "export", "could not remove an incomplete file",
                 {{"path", path}, {"error", std::strerror(errno)}});
}

using nlohmann::json;

constexpr char kKind[] = "tapedeck export";
constexpr uint64_t kVersion = 2;
// Beyond any recording: sums of two do not overflow.
constexpr uint64_t kMostInMark = uint64_t{1} << 62;

// Reads members of the right type, and remembers whether one was none.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  uint64_t Number(const json& value) {
    if (value.is_number_unsigned() && value.get<uint64_t>() < kMostInMark)
      return value.get<uint64_t>();
    good_ = false;
    return 0;
  }
  uint64_t Number(const char* name) { return Number(Find(name)); }
  std::string Text(const char* name) {
    const json value = Find(name);
    if (value.is_string()) return value.get<std::string>();
    good_ = false;
    return "";
  }
  // Lists of `size` whole numbers.
  std::vector<std::vector<int64_t>> Rows(const char* name, size_t size) {
    std::vector<std::vector<int64_t>> rows;
    const json list = Find(name);
    good_ = good_ && list.is_array();
    if (!good_) return {};
    for (const json& one : list) {
      good_ = good_ && one.is_array() && one.size() == size;
      if (!good_) return {};
      std::vector<int64_t>& row = rows.emplace_back();
      for (const json& value : one) {
        good_ = good_ && value.is_number_integer();
        if (!good_) return {};
        row.push_back(value.get<int64_t>());
      }
    }
    return rows;
  }
  bool good() const { return good_; }

 private:
  json Find(const char* name) const { return object_.value(name, json()); }

  const json& object_;
  bool good_ = true;
};

}  // namespace

ExportFile::ExportFile(const Options& options)
    : options_(options),
      path_(options.target + ".export"),
      mark_path_(options.target + ".export.json") {}

absl::StatusOr<std::unique_ptr<ExportFile>> ExportFile::Open(const Options& options) {
  auto file = std::unique_ptr<ExportFile>(new ExportFile(options));
  if (IsThere(options.target)) return files::Exists(options.target);
  if (!IsThere(file->path_) && !IsThere(file->mark_path_)) {
    TD_RETURN_IF_ERROR(file->OpenNew());
    return file;
  }
  if (!options.resumable) return Refused(file->path_, "already exists; remove it");
  if (!options.resume) {
    return Refused(
        file->path_,
        "is an unfinished export: continue it with --resume, or remove it and its .json");
  }
  TD_RETURN_IF_ERROR(file->OpenOld());
  return file;
}

std::unique_ptr<ExportFile> ExportFile::Into(const std::string& path, OutputStream& stream) {
  auto file = std::unique_ptr<ExportFile>(new ExportFile({.target = path}));
  file->streams_ = true;
  file->output_ = std::make_unique<Output>(path, stream);
  return file;
}

absl::Status ExportFile::OpenNew() {
  fd_ = dataplane::Fd(
      open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (fd_.get() < 0) return NotFound(path_, "open for writing", errno);
  ours_ = true;
  // Nobody else has it. A library that writes it by its name may take the lock itself.
  if (options_.resumable) flock(fd_.get(), LOCK_EX | LOCK_NB);
  mark_.key = options_.key;
  output_ = std::make_unique<Output>(path_, fd_.get(), 0);
  return absl::OkStatus();
}

absl::Status ExportFile::LockOld() {
  fd_ = dataplane::Fd(open(path_.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd_.get() < 0) return NotFound(path_, "open for writing", errno);
  if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Refused(path_, "is being written by another process");
  }
  struct stat named = {};
  struct stat locked = {};
  if (fstat(fd_.get(), &locked) != 0) return WriteFailed(path_, "fstat", errno);
  const bool same = lstat(path_.c_str(), &named) == 0 && named.st_dev == locked.st_dev &&
                    named.st_ino == locked.st_ino;
  return same ? absl::OkStatus() : Refused(path_, "has just been completed by another process");
}

absl::Status ExportFile::OpenOld() {
  TD_RETURN_IF_ERROR(LockOld());
  TD_ASSIGN_OR_RETURN(const std::string text, files::ReadText(mark_path_, kMaxMarkBytes));
  TD_ASSIGN_OR_RETURN(mark_, DecodeMark(mark_path_, text));
  if (mark_.key != options_.key) {
    return Refused(path_, "belongs to another export or to other samples");
  }
  struct stat info = {};
  if (fstat(fd_.get(), &info) != 0) return WriteFailed(path_, "fstat", errno);
  if (!S_ISREG(info.st_mode) || static_cast<uint64_t>(info.st_size) < mark_.file_bytes) {
    return files::Invalid(path_, "is not the file that its .json describes");
  }
  ours_ = true;
  saved_ = true;
  resumed_ = true;
  kept_ = true;
  output_ = std::make_unique<Output>(path_, fd_.get(), mark_.file_bytes);
  return output_->Sync();
}

void ExportFile::Advance(uint64_t bytes) {
  mark_.offset += bytes;
  mark_.file_bytes = output_->bytes();
}

absl::Status ExportFile::Save() {
  if (!options_.resumable) return absl::OkStatus();
  TD_RETURN_IF_ERROR(output_->Sync());
  TD_ASSIGN_OR_RETURN(const auto part, files::PartFile::Create(mark_path_, /*replace=*/saved_));
  Output text(part->path(), part->fd(), 0);
  TD_RETURN_IF_ERROR(text.Put(EncodeMark(mark_)));
  TD_RETURN_IF_ERROR(part->Publish());
  saved_ = true;
  saved_offset_ = mark_.offset;
  return absl::OkStatus();
}

absl::Status ExportFile::Publish() {
  TD_RETURN_IF_ERROR(output_->Sync());
  if (streams_) return absl::OkStatus();
  int failed =
      renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, options_.target.c_str(), RENAME_NOREPLACE);
  if (failed != 0 && errno == EINVAL) {
    // A file system without RENAME_NOREPLACE: a second name is never put over a first.
    failed = link(path_.c_str(), options_.target.c_str());
    if (failed == 0) failed = unlink(path_.c_str());
  }
  if (failed != 0) {
    return errno == EEXIST ? files::Exists(options_.target)
                           : WriteFailed(options_.target, "rename to", errno);
  }
  ours_ = false;
  if (std::exchange(saved_, false)) Unlink(mark_path_);
  return absl::OkStatus();
}

// Where a new mark cannot be written, as on a full disk, the last one holds.
bool ExportFile::Keep() {
  if (!options_.resumable) return false;
  const bool marked = mark_.offset > 0 && Save().ok();
  kept_ = kept_ || marked || saved_offset_ > 0;
  return kept_;
}

ExportFile::~ExportFile() {
  if (!ours_ || kept_) return;
  Unlink(path_);
  if (saved_) Unlink(mark_path_);
}

std::string EncodeMark(const ExportMark& mark) {
  json runs = json::array(), gaps = json::array();
  for (const sigmf::Run& run : mark.seen.runs) {
    runs.push_back({run.sample, run.sample_index});
  }
  for (const SampleRange& gap : mark.seen.gaps) gaps.push_back({gap.first, gap.count});
  const json object = {{"kind", kKind},
                       {"version", kVersion},
                       {"uid", mark.key.uid},
                       {"format", mark.key.format},
                       {"first_sample", mark.key.first_sample},
                       {"bytes", mark.key.bytes},
                       {"offset", mark.offset},
                       {"file_bytes", mark.file_bytes},
                       {"runs", runs},
                       {"gaps", gaps}};
  return object.dump() + "\n";
}

absl::StatusOr<ExportMark> DecodeMark(const std::string& path, const std::string& text) {
  const json object = sigmf::ParseForeign(text);
  if (!object.is_object() || object.value("kind", json()) != kKind) {
    return files::Invalid(path, "is not a mark of an export");
  }
  if (object.value("version", json()) != kVersion) {
    return files::Invalid(path, "is of another version");
  }
  Members members(object);
  ExportMark mark{.key = {.uid = members.Text("uid"),
                          .format = members.Text("format"),
                          .first_sample = members.Number("first_sample"),
                          .bytes = members.Number("bytes")},
                  .offset = members.Number("offset"),
                  .file_bytes = members.Number("file_bytes")};
  for (const std::vector<int64_t>& run : members.Rows("runs", 2)) {
    mark.seen.runs.push_back(
        {.sample = static_cast<uint64_t>(run[0]), .sample_index = static_cast<uint64_t>(run[1])});
  }
  for (const std::vector<int64_t>& gap : members.Rows("gaps", 2)) {
    mark.seen.gaps.push_back(
        {.first = static_cast<uint64_t>(gap[0]), .count = static_cast<uint64_t>(gap[1])});
  }
  if (!members.good() || mark.offset > mark.key.bytes) {
    return files::Invalid(path, "has values that no export can have");
  }
  return mark;
}

}  // namespace tapedeck::services::formats
