// The names of a LUN's objects in its namespace. The store computes names and never lists them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store::rados {

// What the LUN is, whose it is, and who has it.
inline constexpr char kLunObject[] = "tapedeck.lun";
// Its recordings: a row for each, with its key.
inline constexpr char kListObject[] = "tapedeck.recordings";

inline std::string KeyOf(const RecordingPath& path) {
  return absl::StrCat(path.channel, "/", path.recording);
}
// The manifest, and what is needed to find the others.
inline std::string HeadOf(const std::string& key) { return absl::StrCat(key, ".m"); }
inline std::string DataOf(const std::string& key, uint64_t number) {
  return absl::StrFormat("%s.d.%016x", key, number);
}
inline std::string IndexOf(const std::string& key, uint64_t number) {
  return absl::StrFormat("%s.i.%08x", key, number);
}

// Extended attributes of the LUN's object and of recordings' heads.
inline constexpr char kLunUid[] = "tapedeck.lun";          // whose it is
inline constexpr char kDataPool[] = "tapedeck.data_pool";  // where payload lies, if apart
inline constexpr char kMemberNumber[] = "tapedeck.member";
inline constexpr char kVersion[] = "tapedeck.version";
inline constexpr char kEpoch[] = "tapedeck.epoch";    // of who has written it last
inline constexpr char kHolder[] = "tapedeck.holder";  // address of who has it; empty: nobody
inline constexpr char kGeneration[] = "tapedeck.generation";
inline constexpr char kObjectBytes[] = "tapedeck.object_bytes";
inline constexpr char kDataObjects[] = "tapedeck.data";  // so many there may be
inline constexpr char kIndexObjects[] = "tapedeck.index";
inline constexpr char kDamaged[] = "tapedeck.damaged";  // the manifest that was replaced as such

inline constexpr uint64_t kFormatVersion = 1;

}  // namespace tapedeck::storage_node::store::rados
