#include "services/formats/io/input.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::services::formats {
namespace {

constexpr size_t kMostListed = 16;
constexpr size_t kMostNameShown = 128;

}  // namespace

absl::Status ReadExactly(const files::InputFile& file, uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = pread(file.fd.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return files::Invalid(file.path, absl::StrCat("pread: ", std::strerror(errno)));
    if (got == 0) return files::Invalid(file.path, "it became shorter while being read");
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadHeader(const files::InputFile& file, uint64_t offset,
                                       uint64_t bytes, const std::string& what) {
  if (offset > file.bytes || bytes > file.bytes - offset) {
    return files::Invalid(file.path, absl::StrCat("it ends within ", what));
  }
  std::string text(bytes, '\0');
  TD_RETURN_IF_ERROR(
      ReadExactly(file, offset, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

absl::Status CheckUnpacked(const files::InputFile& file) {
  struct Packer {
    absl::string_view begin;  // of what it writes
    absl::string_view name;
  };
  static constexpr Packer kPackers[] = {{"\x1f\x8b", "gzip"},
                                        {"\xfd"
                                         "7zXZ",
                                         "xz"},
                                        {"BZh", "bzip2"},
                                        {"\x28\xb5\x2f\xfd", "zstd"},
                                        {"\x04\x22\x4d\x18", "lz4"},
                                        {"PK\x03\x04", "zip"},
                                        {"7z\xbc\xaf\x27\x1c", "7-Zip"}};
  constexpr uint64_t kMostBeginBytes = 6;
  TD_ASSIGN_OR_RETURN(
      const std::string text,
      ReadHeader(file, 0, std::min(kMostBeginBytes, file.bytes), "its first bytes"));
  for (const auto& [begin, name] : kPackers) {
    if (!absl::StartsWith(text, begin)) continue;
    return files::Invalid(file.path, absl::StrCat("is compressed by ", name, ": unpack it first"));
  }
  return absl::OkStatus();
}

std::optional<Annotation> SignalOf(double hertz) {
  const std::string text = vita49::TextOf(vita49::Context{.frequency_hz = hertz});
  if (!vita49::ContextOf(text).has_value()) return std::nullopt;
  return Annotation{.label = vita49::kSignalLabel, .comment = text};
}

std::string ListOf(const std::vector<std::string>& names, uint64_t others) {
  const size_t listed = std::min(names.size(), kMostListed);
  std::vector<std::string> shown;
  for (size_t i = 0; i < listed; ++i) {
    shown.push_back(dataplane::Printable(names[i], kMostNameShown));
  }
  others += names.size() - listed;
  if (others > 0) shown.push_back(absl::StrCat("and ", others, " more"));
  return absl::StrJoin(shown, ", ");
}

}  // namespace tapedeck::services::formats
