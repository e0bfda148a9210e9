#include "dataplane/printable.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_format.h"

namespace tapedeck::dataplane {
namespace {

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

}  // namespace

size_t PrintableBytes(absl::string_view text) {
  const auto at = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (at(0) < 0x80) return at(0) >= 0x20 && at(0) != 0x7f ? 1 : 0;
  const size_t bytes = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  if (at(0) < 0xc2 || at(0) > 0xf4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const bool c1 = at(0) == 0xc2 && at(1) < 0xa0;
  const bool too_long = (at(0) == 0xe0 && at(1) < 0xa0) || (at(0) == 0xf0 && at(1) < 0x90);
  const bool no_character = (at(0) == 0xed && at(1) > 0x9f) || (at(0) == 0xf4 && at(1) > 0x8f);
  return c1 || too_long || no_character ? 0 : bytes;
}

std::string Printable(absl::string_view text, size_t most) {
  std::string line;
  for (size_t done = 0, used = 0; done < text.size(); done += used) {
    const absl::string_view rest = text.substr(done);
    const size_t bytes = PrintableBytes(rest);
    used = std::max<size_t>(bytes, 1);
    if (done + used > most) return line + "...";
    if (bytes > 0) {
      line.append(rest.data(), bytes);
    } else if (rest[0] == '\n' || rest[0] == '\r' || rest[0] == '\t') {
      line += ' ';
    } else {
      absl::StrAppendFormat(&line, "\\x%02x", static_cast<uint8_t>(rest[0]));
    }
  }
  return line;
}

}  // namespace tapedeck::dataplane
