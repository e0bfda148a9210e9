// What happens to a LUN before anything goes wrong: recordings that are made, left open, kept,
// deleted, and restarts, with what is on the disks after each step.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/disaster/image.h"
#include "tests/disaster/reader.h"
#include "tests/disaster/world.h"

namespace tapedeck::disaster {

// A recording as its disks have it.
struct Take {
  Identity identity;
  std::string manifest;         // the text
  std::string stream;           // of a segment: the ID of the first one
  uint64_t first = 0;           // of a segment: the stream's block that is its block 0
  uint64_t segment_blocks = 0;  // 0: no segment
  bool closed = false;
  std::map<uint64_t, uint32_t>
      blocks;  // plain CRC by sequence; all that were acknowledged and more
};

struct Snapshot {
  std::string step;  // that has just been made
  Image image;       // below the world's folder: state, m0, m1 ..., outside
  int64_t now_ns = 0;
  std::vector<Take> takes;
  std::map<uint32_t, std::vector<Slot>> slots;  // on devices
};

struct History {
  uint64_t seed = 0;
  Shape shape;
  std::string world;  // the folder
  std::vector<Snapshot> snapshots;
  std::string failure;  // empty: all that was acknowledged was there after each step
};

inline constexpr char kLun[] = "luns/l";
inline constexpr int64_t kMinute = 60'000'000'000;
inline constexpr uint64_t kBlockBytes = 64 << 10;
inline constexpr uint64_t kDeviceBytes = 256 << 20;

Parts PartsIn(const Shape& shape, const Image& image);

// In `world`, which it empties. No threads are left.
History MakeHistory(uint64_t seed, const Shape& shape, const std::string& world);

}  // namespace tapedeck::disaster
