#include "tests/lab/log_writes/sources.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/durable_file.h"

namespace tapedeck::lab {

absl::StatusOr<Sources> Sources::Load(const std::string& directory, uint64_t block_bytes) {
  Sources sources;
  TD_ASSIGN_OR_RETURN(const auto names, storage_node::disk::ListDirectory(directory, directory));
  for (const std::string& name : names) {
    TD_RETURN_IF_ERROR(sources.Add(absl::StrCat(directory, "/", name), block_bytes));
  }
  return sources;
}

absl::Status Sources::Add(const std::string& path, uint64_t block_bytes) {
  TD_ASSIGN_OR_RETURN(const std::string text, storage_node::disk::ReadFile(path, UINT64_MAX, path));
  const std::span<const std::byte> file = std::as_bytes(std::span(text));
  Place place{.source = names_.size()};
  for (uint64_t at = 0; at < file.size(); at += block_bytes, ++place.sequence) {
    const auto block = file.subspan(at, std::min<uint64_t>(block_bytes, file.size() - at));
    const auto start = StartOf(block);
    if (!start.has_value() || blocks_.contains(*start)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": block ", place.sequence, " begins like another, or is too short"));
    }
    blocks_.emplace(*start, std::pair(place, std::vector(block.begin(), block.end())));
  }
  names_.push_back(path);
  return absl::OkStatus();
}

std::optional<Sources::Place> Sources::Find(std::span<const std::byte> payload) const {
  const auto start = StartOf(payload);
  if (!start.has_value()) return std::nullopt;
  const auto it = blocks_.find(*start);
  if (it == blocks_.end() || !std::ranges::equal(it->second.second, payload)) return std::nullopt;
  return it->second.first;
}

std::optional<Sources::Start> Sources::StartOf(std::span<const std::byte> block) {
  Start start = 0;
  if (block.size() < sizeof(start)) return std::nullopt;
  std::memcpy(&start, block.data(), sizeof(start));
  return start;
}

}  // namespace tapedeck::lab
