#include "storage_node/format/uuid.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dataplane/little_endian.h"

namespace tapedeck::storage_node::format {

using dataplane::PutLittleEndian;

Uuid Uuid::Make(const Random& random) {
  Uuid uuid;
  PutLittleEndian(&uuid.bytes[0], random());
  PutLittleEndian(&uuid.bytes[8], random());
  uuid.bytes[6] = (uuid.bytes[6] & std::byte{0x0f}) | std::byte{0x40};  // version 4
  uuid.bytes[8] = (uuid.bytes[8] & std::byte{0x3f}) | std::byte{0x80};  // variant of RFC 9562
  return uuid;
}

absl::StatusOr<Uuid> Uuid::Parse(absl::string_view text) {
  const std::string hex = absl::StrReplaceAll(text, {{"-", ""}});
  bool valid = text.size() == 36 && hex.size() == 32;
  for (const size_t dash : {8, 13, 18, 23}) valid = valid && text[dash] == '-';
  for (const char c : hex) valid = valid && absl::ascii_isxdigit(static_cast<unsigned char>(c));
  if (!valid)
    return absl::InvalidArgumentError(absl::StrCat("not a UUID: '", text.substr(0, 36), "'"));
  const std::string raw = absl::HexStringToBytes(hex);
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), raw.data(), uuid.bytes.size());
  return uuid;
}

std::string Uuid::ToString() const {
  const std::string hex = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  const absl::string_view h = hex;
  return absl::StrCat(h.substr(0, 8), "-", h.substr(8, 4), "-", h.substr(12, 4), "-",
                      h.substr(16, 4), "-", h.substr(20));
}

}  // namespace tapedeck::storage_node::format
