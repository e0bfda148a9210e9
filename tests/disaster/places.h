// What of a LUN's members can be lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/disaster/history.h"

namespace tapedeck::disaster {

// Something that can be lost: a file, or a part of a device.
struct Place {
  std::string what;       // manifest, index, data, lun, channel
  std::string recording;  // CHANNEL/ID, or empty
  uint32_t member = 0;
  std::string path;
  std::optional<Range> range;  // all of the file
};
std::vector<Place> PlacesIn(const Shape& shape, const Snapshot& snapshot);

}  // namespace tapedeck::disaster
