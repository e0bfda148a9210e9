#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

// "LENGTH size=N\n" among the records of an extended header.
std::optional<uint64_t> SizeIn(absl::string_view records) {
  for (absl::string_view line : absl::StrSplit(records, '\n')) {
    uint64_t bytes = 0;
    const size_t blank = line.find(' ');
    if (blank == absl::string_view::npos) continue;
    line.remove_prefix(blank + 1);
    if (absl::ConsumePrefix(&line, "size=") && absl::SimpleAtoi(line, &bytes)) return bytes;
  }
  return std::nullopt;
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
    const uint64_t wanted = std::min(bytes, kMaxExtendedBytes);
    TD_ASSIGN_OR_RETURN(const std::string records,
                        ReadHeader(file, begin, wanted, "an archive's header"));
    told = SizeIn(records);
  }
  return files::Invalid(file.path, "has too many headers without a file");
}

}  // namespace tapedeck::services::formats
