// The kinds of stores a LUN may have, as in tapedeck/v1/catalog.proto, and their names: as in
// tapectl and in lun.json.
#pragma once

#include <utility>

#include "absl/strings/string_view.h"

namespace tapedeck::services {

enum class StoreKind { kPosix = 1, kMemory = 2, kDirect = 3, kBlock = 4 };
inline constexpr std::pair<StoreKind, absl::string_view> kStoreNames[] = {
    {StoreKind::kPosix, "posix"},
    {StoreKind::kDirect, "direct"},
    {StoreKind::kBlock, "block"},
    {StoreKind::kMemory, "memory"}};
constexpr absl::string_view StoreName(StoreKind store) {
  for (const auto& [kind, name] : kStoreNames) {
    if (kind == store) return name;
  }
  return "unknown";
}

}  // namespace tapedeck::services
