#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/formats/sigmf/tar.h"

namespace tapedeck::services::formats {
namespace {

// Of the size in a header: 11 octal digits.
constexpr uint64_t kMostOctal = (uint64_t{1} << 33) - 1;

std::string Header(const TarFile& file, char type) {
  std::string block(kTarBlockBytes, '\0');
  const auto put = [&block](size_t at, const std::string& text) {
    std::copy(text.begin(), text.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(kTarName, file.name);
  put(kTarMode, "0000644");
  put(kTarUser, "0000000");
  put(kTarGroup, "0000000");
  put(kTarSize, absl::StrFormat("%011o", std::min(file.bytes, kMostOctal)));
  put(kTarTime, "00000000000");
  put(kTarSum, std::string(8, ' '));
  block[kTarType] = type;
  put(kTarMagic, std::string("ustar\00000", 8));
  put(kTarPrefix, file.folder);
  uint32_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(kTarSum, absl::StrFormat("%06o", sum) + std::string("\0 ", 2));
  return block;
}

// "LENGTH size=N\n", where the length counts itself.
std::string SizeRecord(uint64_t bytes) {
  const std::string rest = absl::StrCat(" size=", bytes, "\n");
  const size_t length = rest.size() + 2;
  return absl::StrCat(length, rest);
}

}  // namespace

std::string TarHeader(const TarFile& file) {
  if (file.bytes <= kMostOctal) return Header(file, '0');
  std::string record = SizeRecord(file.bytes);
  const TarFile extended{.folder = file.folder, .name = "pax", .bytes = record.size()};
  record.resize(record.size() + TarPadding(record.size()), '\0');
  return Header(extended, 'x') + record + Header(file, '0');
}

}  // namespace tapedeck::services::formats
