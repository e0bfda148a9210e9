#include "services/base/command_line/columns.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>

#include "dataplane/printable.h"

namespace tapedeck::services::command_line {
namespace {

// The C library knows the characters of this locale without files of it; null where it does not.
locale_t Utf8() {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return utf8;
}

wchar_t CharacterOf(absl::string_view bytes) {
  if (bytes.size() == 1) return static_cast<unsigned char>(bytes[0]);
  auto character = static_cast<uint32_t>(static_cast<unsigned char>(bytes[0]));
  character &= 0x7fU >> bytes.size();
  for (const char byte : bytes.substr(1)) {
    character = (character << 6) | (static_cast<unsigned char>(byte) & 0x3fU);
  }
  return static_cast<wchar_t>(character);
}

// Calls `add(bytes, columns)` for each character until it returns false. In a locale of UTF-8.
template <typename Add>
void ForEachCharacter(absl::string_view text, Add add) {
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = std::max<size_t>(dataplane::PrintableBytes(text.substr(at)), 1);
    const absl::string_view one = text.substr(at, bytes);
    const int columns = bytes == 1 ? 1 : wcwidth(CharacterOf(one));
    if (!add(bytes, columns < 0 ? 1 : columns)) return;
    at += bytes;
  }
}

// This thread's, while it lives.
class WithUtf8 {
 public:
  WithUtf8() : before_(Utf8() == nullptr ? nullptr : uselocale(Utf8())) {}
  ~WithUtf8() {
    if (before_ != nullptr) uselocale(before_);
  }
  WithUtf8(const WithUtf8&) = delete;
  WithUtf8& operator=(const WithUtf8&) = delete;

 private:
  const locale_t before_;
};

}  // namespace

int ColumnsOf(absl::string_view text) {
  const WithUtf8 locale;
  int sum = 0;
  ForEachCharacter(text, [&sum](size_t, int columns) {
    sum += columns;
    return true;
  });
  return sum;
}

std::string CutTo(absl::string_view line, int columns) {
  const WithUtf8 locale;
  size_t fits = 0;
  int sum = 0;
  ForEachCharacter(line, [&](size_t bytes, int wide) {
    sum += wide;
    if (sum <= columns) fits += bytes;
    return sum <= columns;
  });
  return std::string(line.substr(0, fits));
}

}  // namespace tapedeck::services::command_line
