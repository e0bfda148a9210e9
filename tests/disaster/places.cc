#include "tests/disaster/places.h"

#include "absl/strings/str_cat.h"

namespace tapedeck::disaster {
namespace {

uint32_t MemberOf(const std::string& path) { return static_cast<uint32_t>(path[1] - '0'); }

std::vector<Place> PlacesInFolders(const Image& image) {
  std::vector<Place> places;
  for (const auto& [path, node] : image) {
    if (node.kind != Node::Kind::kFile || path[0] != 'm') continue;
    const std::string name = path.substr(path.rfind('/') + 1);
    const uint32_t member = MemberOf(path);
    const auto add = [&](const char* what, const std::string& recording) {
      places.push_back({.what = what, .recording = recording, .member = member, .path = path});
    };
    if (name == "lun.json") add("lun", "");
    if (name == "channel.json") add("channel", "");
    const std::string folder = path.substr(0, path.rfind('/'));
    if (folder.find('/') == folder.npos || folder.find(".tapedeck") != folder.npos) continue;
    const std::string recording = folder.substr(folder.find('/') + 1);
    if (name == "manifest.json") add("manifest", recording);
    if (name == "index") add("index", recording);
    if (name == "data") add("data", recording);
  }
  return places;
}

std::vector<Place> PlacesOfObjects(const Image& image) {
  std::vector<Place> places;
  for (const auto& [path, node] : image) {
    if (!path.starts_with("m0/")) continue;
    const auto add = [&, &path = path](const char* what, const std::string& recording) {
      places.push_back({.what = what, .recording = recording, .path = path, .range = {}});
    };
    const size_t dot = path.find('.');
    const std::string recording = path.substr(3, dot == path.npos ? dot : dot - 3);
    if (path == "m0/tapedeck.lun") add("lun", "");
    if (path.starts_with("m0/tapedeck.recordings#")) add("row", path.substr(path.find('#') + 1));
    if (path.ends_with(".m")) add("manifest", recording);
    if (path.find(".i.") != path.npos) add("index", recording);
    if (path.find(".d.") != path.npos) add("data", recording);
  }
  return places;
}

std::vector<Place> PlacesOnDevices(const Snapshot& snapshot) {
  std::vector<Place> places;
  for (const auto& [member, slots] : snapshot.slots) {
    const std::string path = absl::StrCat("m", member);
    const auto add = [&, member = member](const char* what, const std::string& recording,
                                          Range range) {
      places.push_back(
          {.what = what, .recording = recording, .member = member, .path = path, .range = range});
    };
    add("lun", "", kDeviceLun);
    add("lun", "", kDeviceSuperblock);
    for (const uint64_t copy : {0, 1}) {
      const uint64_t half = kDeviceNotes.bytes / 2;
      add("channel", "", {.offset = kDeviceNotes.offset + copy * half, .bytes = half});
    }
    for (const Slot& slot : slots) {
      const std::string recording = slot.channel + "/" + slot.id;
      for (const uint32_t copy : {0u, 1u}) add("manifest", recording, SlotRange(slot.number, copy));
      if (!slot.index.empty()) add("index", recording, UnitRange(slot.index[0]));
      if (!slot.data.empty()) add("data", recording, UnitRange(slot.data[0]));
    }
  }
  return places;
}

}  // namespace

std::vector<Place> PlacesIn(const Shape& shape, const Snapshot& snapshot) {
  if (shape.on_devices()) return PlacesOnDevices(snapshot);
  if (shape.on_objects()) return PlacesOfObjects(snapshot.image);
  return PlacesInFolders(snapshot.image);
}

}  // namespace tapedeck::disaster
