#include "tests/disaster/reader.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/disaster/record.h"

namespace tapedeck::disaster {
namespace {

using nlohmann::json;

constexpr uint64_t kEntries = 3 * kPage;
constexpr uint32_t kIndexCopies = 2;

// Whose check value is right.
std::optional<json> Checked(const std::string& text) {
  json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("crc32c") || !object["crc32c"].is_string()) return {};
  const auto said = object["crc32c"].get<std::string>();
  object.erase("crc32c");
  char right[9];
  std::snprintf(right, sizeof(right), "%08x", Crc(object.dump()));
  if (said != right) return {};
  return object;
}

template <typename Value>
Value Get(const json& object, const char* key, Value otherwise) {
  const auto it = object.find(key);
  return it == object.end() ? otherwise : it->template get<Value>();
}

// A page or an entry at that place.
bool IsSound(std::string_view record, uint64_t position, uint32_t copy, std::string_view magic) {
  if (record.size() < 8 || record.substr(0, 4) != magic) return false;
  std::string checked;
  Put(&checked, position, 8);
  Put(&checked, copy, 4);
  checked += record.substr(0, record.size() - 4);
  return Number(record, record.size() - 4, 4) == Crc(checked);
}

// Pieces of a sixteenth, in whole 4096 bytes and 64 KiB at most; the entry in multiples of 64.
uint64_t EntryBytes(uint64_t block_bytes) {
  const uint64_t sixteenth = (block_bytes / 16 + kPage - 1) / kPage * kPage;
  const uint64_t piece = std::clamp<uint64_t>(sixteenth, kPage, 64 << 10);
  const uint64_t pieces = (block_bytes + piece - 1) / piece;
  return (52 + 4 * pieces + 4 + 63) / 64 * 64;
}

struct Entry {
  uint32_t payload_bytes = 0;
  uint32_t check = 0;
};

std::optional<Entry> ReadEntry(const Bytes& index, const Identity& recording, uint64_t sequence,
                               uint32_t copy) {
  const uint64_t size = EntryBytes(recording.block_bytes);
  const uint64_t at = kEntries + size * sequence;
  const std::string record = index.Read(at, size);
  if (record.size() != size || !IsSound(record, at, copy, "TDIE")) return {};
  if (Number(record, 4, 2) != 1 || Number(record, 8, 8) != sequence) return {};
  if (Number(record, 48, 4) != recording.epoch) return {};
  return Entry{.payload_bytes = static_cast<uint32_t>(Number(record, 32, 4)),
               .check = static_cast<uint32_t>(Number(record, 40, 4))};
}

// The plain CRC of a payload that has that check value.
std::optional<uint32_t> ReadPayload(const Bytes& data, const Identity& recording, uint64_t sequence,
                                    const Entry& entry) {
  const uint64_t member = sequence % recording.members;
  const uint64_t offset = sequence / recording.members * recording.block_bytes;
  const std::string payload = data.Read(offset, entry.payload_bytes);
  if (payload.size() != entry.payload_bytes) return {};
  std::string all = recording.lun + recording.recording;
  Put(&all, sequence, 8);
  Put(&all, offset, 8);
  Put(&all, member, 4);
  Put(&all, recording.epoch, 4);
  Put(&all, recording.channel.size(), 4);
  all += recording.channel + payload;
  if (Crc(all) != entry.check) return {};
  return Crc(payload);
}

Where Further(Where a, Where b) { return std::max(a, b); }

std::optional<FoundBlock> FindBlock(const Parts& parts, const Identity& recording,
                                    uint64_t sequence, bool copies) {
  std::optional<FoundBlock> best;
  const auto is_own = [&](const Part& part) {
    return part.id == recording.id && part.channel == recording.channel;
  };
  for (const Part& indexed : parts) {
    for (uint32_t copy = 0; copy < kIndexCopies && indexed.index.has_value(); ++copy) {
      const auto entry = ReadEntry(*indexed.index, recording, sequence, copy);
      if (!entry.has_value() || entry->payload_bytes == 0) continue;
      const Where entry_where = !is_own(indexed)         ? Where::kSomewhere
                                : copy != indexed.member ? Where::kInRecording
                                                         : Where::kInPlace;
      for (const Part& part : parts) {
        if (!part.data.has_value()) continue;
        const bool right_member = copies || part.member == sequence % recording.members;
        const Where where = Further(entry_where, !is_own(part)  ? Where::kSomewhere
                                                 : right_member ? Where::kInPlace
                                                                : Where::kInRecording);
        if (best.has_value() && best->where <= where) continue;
        const auto crc = ReadPayload(*part.data, recording, sequence, *entry);
        if (crc.has_value()) best = {.where = where, .payload_crc = *crc};
      }
      if (best.has_value() && best->where == Where::kInPlace) return best;
    }
  }
  return best;
}

}  // namespace

std::optional<std::string> UuidBytes(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '-') digits.push_back(c);
  }
  if (digits.size() != 32) return {};
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    if (!std::isxdigit(static_cast<unsigned char>(digits[i]))) return {};
    bytes.push_back(static_cast<char>(std::strtoul(digits.substr(i, 2).c_str(), nullptr, 16)));
  }
  return bytes;
}

std::optional<ManifestText> ReadManifest(const std::string& text) {
  const auto object = Checked(text);
  if (!object.has_value()) return {};
  const auto lun = UuidBytes(Get<std::string>(*object, "lun_uid", ""));
  const auto uid = UuidBytes(Get<std::string>(*object, "uid", ""));
  if (!lun.has_value() || !uid.has_value()) return {};
  return ManifestText{
      .id = Get<std::string>(*object, "id", ""),
      .channel = Get<std::string>(*object, "channel", ""),
      .lun = *lun,
      .recording = *uid,
      .epoch = Get<uint32_t>(*object, "epoch", 0),
      .members = Get<uint32_t>(*object, "members", 1),
      .block_bytes = Get<uint64_t>(*object, "block_bytes", 0),
      .generation = Get<uint64_t>(*object, "generation", 0),
      .blocks = Get<uint64_t>(*object, "blocks", 0),
      .stream = Get<std::string>(*object, "stream", ""),
      .first = Get<uint64_t>(*object, "segment", 0) * Get<uint64_t>(*object, "segment_blocks", 0),
      .segment_blocks = Get<uint64_t>(*object, "segment_blocks", 0),
      .closed = Get<std::string>(*object, "state", "") != "RECORDING",
      .kept = Get<bool>(*object, "kept", false),
      .end_time_ns = Get<int64_t>(*object, "end_time_ns", 0),
      .text_bytes = text.size()};
}

std::optional<LunText> ReadLun(const std::string& text) {
  const auto object = Checked(text);
  if (!object.has_value()) return {};
  const auto members = object->find("members");
  return LunText{.uid = Get<std::string>(*object, "uid", ""),
                 .member = Get<uint32_t>(*object, "member", 0),
                 .members = members == object->end() ? 0 : members->size(),
                 .capacity = Get<uint64_t>(*object, "capacity_bytes", 0),
                 .ring = Get<std::string>(*object, "full_policy", "") == "RING",
                 .max_age_ns = Get<int64_t>(*object, "max_age_ns", 0),
                 .max_fill = Get<uint32_t>(*object, "max_fill_percent", 0),
                 .description = Get<std::string>(*object, "description", "")};
}

Parts PartsOfFolders(const Image& image) {
  std::map<std::string, Part> parts;  // by folder
  for (const auto& [path, node] : image) {
    if (node.kind != Node::Kind::kFile || path[0] != 'm') continue;
    // mN/CHANNEL/RECORDING/NAME
    const size_t a = path.find('/');
    const size_t b = a == path.npos ? path.npos : path.find('/', a + 1);
    const size_t c = b == path.npos ? path.npos : path.find('/', b + 1);
    if (c == path.npos || path.find('/', c + 1) != path.npos) continue;
    Part& part = parts[path.substr(0, c)];
    part.member = static_cast<uint32_t>(std::atoi(&path[1]));
    part.channel = path.substr(a + 1, b - a - 1);
    part.id = path.substr(b + 1, c - b - 1);
    const std::string name = path.substr(c + 1);
    if (name == "index") part.index = node.bytes;
    if (name == "data") part.data = node.bytes;
    if (name == "manifest.json") {
      part.manifest_text = node.bytes.All();
      part.manifest = ReadManifest(part.manifest_text);
    }
  }
  Parts all;
  for (auto& [folder, part] : parts) all.push_back(std::move(part));
  return all;
}

Parts PartsOfObjects(const Image& image) {
  std::map<std::string, Part> parts;  // by CHANNEL/RECORDING
  for (const auto& [path, node] : image) {
    const size_t slash = path.find('/', 3);
    const size_t dot = slash == path.npos ? path.npos : path.find('.', slash);
    if (!path.starts_with("m0/") || dot == path.npos) continue;
    if (path.find_first_of("@#") != path.npos) continue;
    Part& part = parts[path.substr(3, dot - 3)];
    part.channel = path.substr(3, slash - 3);
    part.id = path.substr(slash + 1, dot - slash - 1);
    const std::string kind = path.substr(dot);
    if (kind == ".i.00000000") part.index = node.bytes;
    if (kind == ".d.0000000000000000") part.data = node.bytes;
    if (kind == ".m") {
      part.manifest_text = node.bytes.All();
      part.manifest = ReadManifest(part.manifest_text);
    }
  }
  Parts all;
  for (auto& [key, part] : parts) all.push_back(std::move(part));
  return all;
}

FoundBlocks FindBlocks(const Parts& parts, const Identity& recording,
                       const std::set<uint64_t>& sequences, bool copies) {
  FoundBlocks found;
  for (const uint64_t sequence : sequences) {
    const auto block = FindBlock(parts, recording, sequence, copies);
    if (block.has_value()) found[sequence] = *block;
  }
  return found;
}

std::set<uint64_t> SequencesOf(const Parts& parts, const Identity& recording) {
  std::set<uint64_t> sequences;
  const uint64_t entry_bytes = EntryBytes(recording.block_bytes);
  for (const Part& part : parts) {
    if (part.id != recording.id || !part.index.has_value() || part.member >= kIndexCopies) continue;
    const uint64_t size = std::min<uint64_t>(part.index->size(), 64 << 10);
    for (uint64_t sequence = 0; kEntries + (sequence + 1) * entry_bytes <= size; ++sequence) {
      const auto entry = ReadEntry(*part.index, recording, sequence, part.member);
      if (entry.has_value() && entry->payload_bytes > 0) sequences.insert(sequence);
    }
  }
  return sequences;
}

bool HasHeader(const Parts& parts, const Identity& recording) {
  return std::ranges::any_of(parts, [&](const Part& part) {
    if (part.id != recording.id || !part.index.has_value() || part.member >= kIndexCopies) {
      return false;
    }
    const std::string page = part.index->Read(0, kPage);
    return page.size() == kPage && IsSound(page, 0, part.member, "TDIX") &&
           page.substr(8, 16) == recording.lun && page.substr(24, 16) == recording.recording;
  });
}

std::map<uint32_t, LunText> LunTexts(const Image& image) {
  std::map<uint32_t, LunText> texts;
  for (uint32_t member = 0; member < 8; ++member) {
    const std::string name = "m" + std::to_string(member);
    const auto folder = image.find(name + "/.tapedeck/lun.json");
    if (folder != image.end() && folder->second.kind == Node::Kind::kFile) {
      if (const auto text = ReadLun(folder->second.bytes.All())) texts[member] = *text;
    }
    const auto object = image.find(name + "/tapedeck.lun");
    if (object != image.end()) {
      const auto note = Checked(object->second.bytes.All());
      const auto text =
          note.has_value() ? ReadLun(Get<std::string>(*note, "lun", "")) : std::nullopt;
      if (text.has_value()) texts[member] = *text;
    }
    const auto device = image.find(name);
    if (device == image.end() || device->second.kind != Node::Kind::kFile) continue;
    uint64_t newest = 0;
    for (const uint64_t copy : {0, 1}) {
      const Bytes& bytes = device->second.bytes;
      const uint64_t at = kDeviceNotes.offset + copy * kDeviceNotes.bytes / 2;
      const std::string head = bytes.Read(at, 24);
      if (head.size() < 24 || head.substr(0, 4) != "TDNT") continue;
      const uint64_t length = Number(head, 16, 4), generation = Number(head, 8, 8);
      if (length < 28 || length > kDeviceNotes.bytes / 2 || generation <= newest) continue;
      const auto note = Checked(bytes.Read(at + 24, length - 28));
      if (!note.has_value()) continue;
      if (const auto text = ReadLun(Get<std::string>(*note, "lun", ""))) {
        newest = generation;
        texts[member] = *text;
      }
    }
  }
  return texts;
}

}  // namespace tapedeck::disaster
