// What lies on a LUN's members, read as storage_node/format/README.md and
// storage_node/store/device/README.md say, by none of the code that is under test.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/disaster/image.h"

namespace tapedeck::disaster {

// 16 bytes of a text such as 00112233-4455-4677-8899-aabbccddeeff; none: it is no such text.
std::optional<std::string> UuidBytes(std::string_view text);

// Of a manifest whose check value is right.
struct ManifestText {
  std::string id, channel, lun, recording;  // the last two of 16 bytes
  uint32_t epoch = 0;
  uint32_t members = 0;
  uint64_t block_bytes = 0;
  uint64_t generation = 0;
  uint64_t blocks = 0;
  std::string stream;           // of a segment: the ID of the first one
  uint64_t first = 0;           // of a segment: the stream's block that is its block 0
  uint64_t segment_blocks = 0;  // 0: no segment
  bool closed = false;
  bool kept = false;
  int64_t end_time_ns = 0;
  size_t text_bytes = 0;
};
std::optional<ManifestText> ReadManifest(const std::string& text);

// Of a lun.json or a note whose check value is right.
struct LunText {
  std::string uid;
  uint32_t member = 0;
  size_t members = 0;
  uint64_t capacity = 0;
  bool ring = false;
  int64_t max_age_ns = 0;
  uint32_t max_fill = 0;
  std::string description;
};
std::optional<LunText> ReadLun(const std::string& text);

// A recording's files on one member, or what a device has in their stead.
struct Part {
  uint32_t member = 0;
  std::string channel, id;  // of the folder that they lie in
  std::optional<Bytes> index, data;
  std::optional<ManifestText> manifest;
  std::string manifest_text;  // sound or not
};
using Parts = std::vector<Part>;

// Below folders m0, m1 ...
Parts PartsOfFolders(const Image& image);

// Of objects m0/NAME, as many as one of a kind for each recording.
Parts PartsOfObjects(const Image& image);

// Where a recording lies on a device: from its slot.
struct Slot {
  uint32_t number = 0;
  uint64_t generation = 0;
  bool live = false;
  std::string channel, id, manifest;
  std::vector<uint32_t> data, index;  // units, in order
  uint64_t data_bytes = 0, index_bytes = 0;
};
// Of the images m0, m1 ...; what is damaged is left out, and so is all of a device without a sound
// superblock.
std::map<uint32_t, std::vector<Slot>> SoundSlotsOf(const Image& image);
std::map<uint32_t, std::vector<Slot>> SlotsOf(const Image& image);  // the live ones
// What is at those places, whatever the slots of `image` say.
Parts PartsAt(const Image& image, const std::map<uint32_t, std::vector<Slot>>& slots);
// Where a device keeps it.
struct Range {
  uint64_t offset = 0, bytes = 0;
};
Range SlotRange(uint32_t slot, uint32_t copy);
Range UnitRange(uint32_t unit);
inline constexpr Range kDeviceLun{.offset = 8192, .bytes = 56 << 10};
inline constexpr Range kDeviceNotes{.offset = 128 << 10, .bytes = 2 * 448 << 10};
inline constexpr Range kDeviceSuperblock{.offset = 0, .bytes = 4096};

// What a LUN says of itself on each member that says something: the newest of a device's notes.
std::map<uint32_t, LunText> LunTexts(const Image& image);

// Of a recording while nothing was wrong with it.
struct Identity {
  std::string id, channel, lun, recording;
  uint32_t epoch = 0;
  uint32_t members = 1;
  uint64_t block_bytes = 0;
};

// How far a block is from where it should be.
enum class Where { kInPlace, kInRecording, kSomewhere };

// A block that has payload, an entry, and a check value that fits both.
struct FoundBlock {
  Where where = Where::kInPlace;
  uint32_t payload_crc = 0;
};
using FoundBlocks = std::map<uint64_t, FoundBlock>;

// Of `sequences`. With `copies` each of two members has all.
FoundBlocks FindBlocks(const Parts& parts, const Identity& recording,
                       const std::set<uint64_t>& sequences, bool copies);
// All that its own index names, to begin with.
std::set<uint64_t> SequencesOf(const Parts& parts, const Identity& recording);

// One of its own copies, on its member, has a header that is sound and this recording's.
bool HasHeader(const Parts& parts, const Identity& recording);

}  // namespace tapedeck::disaster
