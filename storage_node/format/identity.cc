#include "storage_node/format/identity.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"

namespace tapedeck::storage_node::format {

using dataplane::PutLittleEndian;
namespace {

// The fixed part; the channel's name follows it.
constexpr size_t kFixedBytes = 60;

}  // namespace

Place PlaceOf(uint64_t sequence, uint64_t block_bytes, uint32_t members) {
  return {.member = static_cast<uint32_t>(sequence % members),
          .offset = sequence / members * block_bytes};
}

uint32_t CheckValue(const RecordingIdentity& identity, uint64_t sequence, Place place,
                    uint32_t payload_crc32c, uint32_t payload_bytes) {
  std::array<std::byte, kFixedBytes> fixed;
  std::copy(identity.lun.bytes.begin(), identity.lun.bytes.end(), &fixed[0]);
  std::copy(identity.recording.bytes.begin(), identity.recording.bytes.end(), &fixed[16]);
  PutLittleEndian(&fixed[32], sequence);
  PutLittleEndian(&fixed[40], place.offset);
  PutLittleEndian(&fixed[48], place.member);
  PutLittleEndian(&fixed[52], identity.epoch);
  PutLittleEndian(&fixed[56], static_cast<uint32_t>(identity.channel.size()));
  const uint32_t crc = dataplane::Crc32cExtend(
      dataplane::Crc32c(fixed), std::as_bytes(std::span<const char>(identity.channel)));
  return dataplane::Crc32cCombine(crc, payload_crc32c, payload_bytes);
}

}  // namespace tapedeck::storage_node::format
