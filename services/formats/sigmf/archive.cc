#include "services/formats/sigmf/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/io/input.h"
#include "services/formats/sigmf/tar.h"
#include "services/signal/sigmf/meta.h"

namespace tapedeck::services::formats {
namespace {

constexpr int kMostEntries = 1024;
constexpr size_t kMostArchivedName = 128;  // of a name
constexpr size_t kMostArchivedNames = 8;   // names in a sentence
constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kPaddingBytes = 64 << 10;  // behind an archive, at most: 20 records of tar's

using Reading = std::unique_ptr<archive, decltype(&archive_read_free)>;

std::string BaseOf(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string Names(std::vector<std::string> names) {
  const size_t count = names.size();
  for (std::string& name : names) name = dataplane::Printable(name, kMostArchivedName);
  if (count > kMostArchivedNames) {
    names.resize(kMostArchivedNames);
    names.push_back(absl::StrCat(count - kMostArchivedNames, " more"));
  }
  return absl::StrJoin(names, ", ");
}

struct Halves {
  std::optional<ArchivedFile> meta;
  std::optional<ArchivedFile> data;
};

class Parser {
 public:
  explicit Parser(const files::InputFile& file)
      : file_(file), reading_(archive_read_new(), archive_read_free) {}

  absl::StatusOr<Archive> Parse() {
    archive_read_support_format_tar(reading_.get());
    const bool open =
        lseek(file_.fd.get(), 0, SEEK_SET) == 0 &&
        archive_read_open_fd(reading_.get(), file_.fd.get(), kReadBytes) == ARCHIVE_OK;
    if (!open) return Failed();
    for (int i = 0; !ends_early_; ++i) {
      archive_entry* entry = nullptr;
      const int read = archive_read_next_header(reading_.get(), &entry);
      if (read == ARCHIVE_EOF) TD_RETURN_IF_ERROR(LookBehind());
      if (read == ARCHIVE_EOF || EndsWithinPadding()) break;
      if (read != ARCHIVE_OK && read != ARCHIVE_WARN) return Failed();
      if (i == kMostEntries) {
        return files::Invalid(file_.path, absl::StrCat("has more than ", kMostEntries, " entries"));
      }
      TD_RETURN_IF_ERROR(Take(entry));
    }
    return Paired();
  }

 private:
  absl::Status Failed() const {
    TD_RETURN_IF_ERROR(CheckUnpacked(file_));
    const char* text = archive_error_string(reading_.get());
    return files::Invalid(
        file_.path,
        absl::StrCat("is not a whole tar archive without compression: ",
                     dataplane::Printable(text == nullptr ? "" : text, kMostArchivedName)));
  }

  // Of two archives one behind the other, tar reads the first.
  absl::Status LookBehind() {
    const auto at = static_cast<uint64_t>(archive_filter_bytes(reading_.get(), 0));
    if (at >= file_.bytes) return absl::OkStatus();
    std::vector<std::byte> bytes(std::min<uint64_t>(file_.bytes - at, kPaddingBytes));
    TD_RETURN_IF_ERROR(ReadExactly(file_, at, bytes));
    const auto is_zero = [](std::byte one) { return one == std::byte{0}; };
    if (!std::ranges::all_of(bytes, is_zero)) behind_ = file_.bytes - at;
    return absl::OkStatus();
  }

  // Behind the last entry, of which nothing is lost then.
  bool EndsWithinPadding() const { return end_ > 0 && file_.bytes < end_ + TarPadding(end_); }

  absl::Status Take(archive_entry* entry) {
    if (archive_entry_filetype(entry) == AE_IFDIR) return absl::OkStatus();
    // Not of the locale's characters: UTF-8 as it stands, else the bytes.
    const char* told = archive_entry_pathname_utf8(entry);
    if (told == nullptr) told = archive_entry_pathname(entry);
    const std::string name(absl::StripPrefix(told == nullptr ? "" : told, "./"));
    const bool is_meta = absl::EndsWith(name, sigmf::kMetaSuffix);
    const bool is_file =
        archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
    // "._NAME" holds what macOS knows of NAME beside its bytes.
    const bool is_wanted = is_file && (is_meta || absl::EndsWith(name, sigmf::kDataSuffix)) &&
                           !absl::StartsWith(BaseOf(name), "._");
    TD_ASSIGN_OR_RETURN(const ArchivedFile found, FileOf(entry));
    if (!is_wanted) {
      left_out_.push_back(name);
      return absl::OkStatus();
    }
    if (archive_entry_sparse_count(entry) > 0) {
      return files::Invalid(file_.path,
                            absl::StrCat(dataplane::Printable(name, kMostArchivedName),
                                         " in it has holes (GNU.sparse); make it without tar -S"));
    }
    Halves& halves = found_[std::string(
        absl::StripSuffix(name, is_meta ? sigmf::kMetaSuffix : sigmf::kDataSuffix))];
    std::optional<ArchivedFile>& half = is_meta ? halves.meta : halves.data;
    if (half.has_value()) {
      return files::Invalid(
          file_.path,
          absl::StrCat("has ", dataplane::Printable(name, kMostArchivedName), " twice"));
    }
    half = found;
    return absl::OkStatus();
  }

  // The header has been read, and nothing behind it.
  absl::StatusOr<ArchivedFile> FileOf(archive_entry* entry) {
    const la_int64_t at = archive_filter_bytes(reading_.get(), 0);
    const la_int64_t bytes = archive_entry_size(entry);
    if (at < 0 || bytes < 0) return Failed();
    const uint64_t begin = std::min(static_cast<uint64_t>(at), file_.bytes);
    ArchivedFile found{.in_archive = {.begin = begin}, .bytes = static_cast<uint64_t>(bytes)};
    found.in_archive.bytes = std::min(found.bytes, file_.bytes - begin);
    ends_early_ = found.in_archive.bytes < found.bytes;
    end_ = begin + found.in_archive.bytes;
    return found;
  }

  absl::StatusOr<Archive> Paired() const {
    Archive archive;
    std::vector<std::string> halves;
    for (const auto& [name, found] : found_) {
      if (found.meta.has_value() && found.data.has_value()) {
        archive.recordings.push_back({.name = name, .meta = *found.meta, .data = *found.data});
      } else {
        halves.push_back(
            absl::StrCat(name, found.meta.has_value() ? sigmf::kMetaSuffix : sigmf::kDataSuffix));
      }
    }
    if (archive.recordings.empty()) {
      return files::Invalid(
          file_.path, absl::StrCat("has no .sigmf-meta and .sigmf-data of one name",
                                   halves.empty() ? "" : ", only ", Names(halves),
                                   ends_early_ ? "; the archive ends within its last file" : ""));
    }
    if (!halves.empty()) {
      const std::string names = Names(halves);
      archive.notes.push_back(
          MakeNote("LEFT_OUT", absl::StrCat("left out, as their other file is missing: ", names),
                   {{"what", "halves"}, {"names", names}}));
    }
    if (!left_out_.empty()) {
      const std::string names = Names(left_out_);
      archive.notes.push_back(MakeNote(
          "LEFT_OUT", absl::StrCat(left_out_.size(), " files of the archive are left out: ", names),
          {{"what", "files"}, {"count", absl::StrCat(left_out_.size())}, {"names", names}}));
    }
    if (behind_ > 0) {
      archive.notes.push_back(
          MakeNote("BYTES_BEHIND",
                   absl::StrCat(behind_, " bytes behind the end of the archive are left out"),
                   {{"bytes", absl::StrCat(behind_)}}));
    }
    return archive;
  }

  const files::InputFile& file_;
  const Reading reading_;
  std::map<std::string, Halves> found_;  // by their names without the last part
  std::vector<std::string> left_out_;
  uint64_t end_ = 0;         // of the newest entry
  bool ends_early_ = false;  // within it
  uint64_t behind_ = 0;      // bytes behind the end, where they are not only zeros
};

}  // namespace

absl::StatusOr<Archive> ReadArchive(const files::InputFile& file) { return Parser(file).Parse(); }

absl::StatusOr<ArchivedRecording> RecordingIn(const Archive& archive, const std::string& member,
                                              const std::string& path) {
  std::vector<ArchivedRecording> wanted;
  std::vector<std::string> names;
  for (const ArchivedRecording& recording : archive.recordings) {
    names.push_back(recording.name);
    if (member.empty() || recording.name == member || BaseOf(recording.name) == member) {
      wanted.push_back(recording);
    }
  }
  if (wanted.size() == 1) return wanted.front();
  return files::Invalid(path, absl::StrCat(wanted.empty() ? "has no recording of that name"
                                                          : "has more than one recording of SigMF",
                                           "; --member takes one of these: ", Names(names)));
}

}  // namespace tapedeck::services::formats
