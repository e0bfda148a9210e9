#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/formats/input.h"
#include "services/formats/tar.h"
#include "services/formats/tar_layout.h"

namespace tapedeck::services::formats {
namespace {

constexpr uint64_t kMaxExtendedBytes = 64 << 10;
// Of those without a regular file, one behind the other.
constexpr int kMaxHeaders = 256;
constexpr uint64_t kMostBytes = uint64_t{1} << 62;

bool IsEmpty(const std::string& block) {
  return std::ranges::all_of(block, [](char c) { return c == '\0'; });
}

// Digits of base 8, or with the highest bit set a number of base 256, as GNU has it.
std::optional<uint64_t> NumberIn(absl::string_view field) {
  uint64_t value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (size_t i = 1; i < field.size(); ++i) {
      if (value >= kMostBytes >> 8) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(field[i]);
    }
    return value;
  }
  for (const char c : field) {
    if (c == '\0' || c == ' ') continue;
    if (c < '0' || c > '7') return std::nullopt;
    value = value << 3 | static_cast<uint64_t>(c - '0');
  }
  return value;
}

bool SumIsRight(const std::string& block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kTarSum && i < kTarSum + 8;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return NumberIn(absl::string_view(block).substr(kTarSum, 8)) == sum;
}

// What an extended header says of the file behind it.
struct Extended {
  std::optional<uint64_t> bytes;
  bool sparse = false;  // it has holes, and its bytes are a map of them and the rest
};

// Its records are "LENGTH KEY=VALUE\n", LENGTH being that of the record. None: it has others.
std::optional<Extended> ReadExtended(absl::string_view records) {
  Extended extended;
  while (!records.empty()) {
    size_t length = 0;
    const size_t blank = records.find(' ');
    if (blank == absl::string_view::npos || !absl::SimpleAtoi(records.substr(0, blank), &length) ||
        length <= blank + 1 || length > records.size() || records[length - 1] != '\n') {
      return std::nullopt;
    }
    absl::string_view record = records.substr(blank + 1, length - blank - 2);
    records.remove_prefix(length);
    if (absl::StartsWith(record, "GNU.sparse.")) extended.sparse = true;
    uint64_t bytes = 0;
    if (!absl::ConsumePrefix(&record, "size=")) continue;
    if (!absl::SimpleAtoi(record, &bytes)) return std::nullopt;
    extended.bytes = bytes;
  }
  return extended;
}

absl::StatusOr<Extended> ExtendedAt(const files::InputFile& file, uint64_t begin, uint64_t bytes) {
  if (bytes > kMaxExtendedBytes) {
    return files::Invalid(file.path, absl::StrCat("has an extended header of ", bytes, " bytes; ",
                                                  kMaxExtendedBytes, " are the most"));
  }
  TD_ASSIGN_OR_RETURN(const std::string records,
                      ReadHeader(file, begin, bytes, "an archive's header"));
  const auto extended = ReadExtended(records);
  if (!extended.has_value()) {
    return files::Invalid(file.path, absl::StrCat("no extended header at byte ", begin));
  }
  if (extended->sparse) {
    return files::Invalid(file.path,
                          "has a sparse file (GNU.sparse); make the archive without tar -S");
  }
  return *extended;
}

}  // namespace

absl::StatusOr<std::optional<TarEntry>> NextInTar(const files::InputFile& file, uint64_t* at) {
  std::optional<uint64_t> told;  // by an extended header, of the next file
  for (int i = 0; i < kMaxHeaders; ++i) {
    TD_ASSIGN_OR_RETURN(const std::string block,
                        ReadHeader(file, *at, kTarBlockBytes, "an archive's header"));
    if (IsEmpty(block)) return std::nullopt;
    const auto size = NumberIn(absl::string_view(block).substr(kTarSize, 12));
    if (!SumIsRight(block) || !size.has_value()) {
      return files::Invalid(file.path, absl::StrCat("no header of a tar archive at byte ", *at));
    }
    const uint64_t begin = *at + kTarBlockBytes;
    const char type = block[kTarType];
    const bool regular = type == '0' || type == '\0';
    const uint64_t bytes = regular ? told.value_or(*size) : *size;
    if (bytes > file.bytes - begin) {
      return files::Invalid(file.path, "it ends within a file of the archive");
    }
    *at = begin + bytes + TarPadding(bytes);
    if (regular) {
      const std::string name = block.substr(kTarName, kMaxTarNameBytes).c_str();
      return TarEntry{.name = name.substr(name.rfind('/') + 1), .begin = begin, .bytes = bytes};
    }
    if (type != 'x') continue;
    TD_ASSIGN_OR_RETURN(const Extended extended, ExtendedAt(file, begin, bytes));
    told = extended.bytes;
  }
  return files::Invalid(file.path, "has too many headers without a file");
}

}  // namespace tapedeck::services::formats
