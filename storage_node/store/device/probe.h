// What a device holds before a LUN is made of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tapedeck::storage_node::store::device {

// `head`: the first kHeadBytes of the device, `tail`: its last kTailBytes. Empty if both are zeros;
// else what was found and where, e.g. "an ext2, ext3 or ext4 file system at byte 1080".
std::string WhatIsThere(std::span<const std::byte> head, std::span<const std::byte> tail);

}  // namespace tapedeck::storage_node::store::device
