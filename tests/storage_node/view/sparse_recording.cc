#include "tests/storage_node/view/sparse_recording.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::view {
namespace {

constexpr uint64_t kEntriesAtATime = 8192;

absl::StatusOr<format::Manifest> ReadManifest(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return format::DecodeManifest(text.str());
}

// The entry of the first block, as that of all the others.
absl::StatusOr<format::IndexEntry> FirstEntry(std::fstream& index,
                                              const format::EntryFormat& format) {
  std::vector<std::byte> record(format.entry_bytes);
  index.seekg(static_cast<std::streamoff>(format.Offset(0)));
  index.read(reinterpret_cast<char*>(record.data()), static_cast<std::streamsize>(record.size()));
  return format.Decode(record, 0, 0);
}

absl::Status WriteEntries(const std::string& path, const format::Manifest& manifest) {
  std::fstream index(path, std::ios::binary | std::ios::in | std::ios::out);
  const format::EntryFormat format = manifest.entries();
  TD_ASSIGN_OR_RETURN(format::IndexEntry entry, FirstEntry(index, format));
  const uint64_t block_samples = manifest.block_bytes / 8;
  std::vector<std::byte> records(kEntriesAtATime * format.entry_bytes);
  index.seekp(static_cast<std::streamoff>(format.Offset(0)));
  for (uint64_t first = 0; first < manifest.blocks; first += kEntriesAtATime) {
    const uint64_t count = std::min(kEntriesAtATime, manifest.blocks - first);
    for (uint64_t i = 0; i < count; ++i) {
      entry.sequence = first + i;
      entry.sample_index = entry.sequence * block_samples;
      entry.check = format::CheckValue(
          manifest.identity, entry.sequence,
          format::PlaceOf(entry.sequence, manifest.block_bytes, manifest.members),
          entry.payload_crc32c, entry.payload_bytes);
      format.Encode(entry, 0,
                    std::span(records).subspan(i * format.entry_bytes, format.entry_bytes));
    }
    index.write(reinterpret_cast<const char*>(records.data()),
                static_cast<std::streamsize>(count * format.entry_bytes));
  }
  return index.flush() ? absl::OkStatus() : absl::InternalError(absl::StrCat("write of ", path));
}

}  // namespace

absl::Status MakeLong(const std::string& directory, uint64_t blocks) {
  const std::string manifest_path = directory + "/manifest.json";
  TD_ASSIGN_OR_RETURN(format::Manifest manifest, ReadManifest(manifest_path));
  manifest.blocks = manifest.durable_watermark = blocks;
  manifest.bytes = blocks * manifest.block_bytes;
  manifest.Advance();
  TD_RETURN_IF_ERROR(WriteEntries(directory + "/index", manifest));
  const std::string data = directory + "/data";
  if (truncate(data.c_str(), static_cast<off_t>(manifest.bytes)) != 0) {
    return absl::UnavailableError(absl::StrCat("truncate ", data, ": ", std::strerror(errno)));
  }
  std::ofstream out(manifest_path, std::ios::binary);
  out << format::EncodeManifest(manifest);
  return out.flush() ? absl::OkStatus()
                     : absl::InternalError(absl::StrCat("write of ", manifest_path));
}

}  // namespace tapedeck::storage_node::view
