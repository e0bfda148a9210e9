// The text of a manifest.json.
#include "storage_node/format/manifest.h"

#include "storage_node/format/limits.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/mended_json.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tapedeck::storage_node::format;  // NOLINT: the names under test
  using tapedeck::fuzz::Require;
  tapedeck::fuzz::Input input(data, size);
  const absl::string_view text = input.Text();
  (void)DecodeManifest(text).ok();
  const auto manifest = DecodeManifest(tapedeck::fuzz::MendedJson(text));
  if (!manifest.ok()) return 0;
  // Memory of these sizes is asked for, and offsets are made of them.
  Require(IsBlockSize(manifest->block_bytes));
  Require(manifest->members > 0 && manifest->members <= kMaxMembers);
  Require(manifest->missing_blocks() <= manifest->blocks);
  const EntryFormat entries = manifest->entries();
  Require(entries.Offset(manifest->blocks) >= kEntriesOffset + manifest->blocks);
  const Place end = PlaceOf(manifest->blocks, manifest->block_bytes, manifest->members);
  Require(end.offset <= kMaxRecordingBytes && end.member < manifest->members);
  const auto again = DecodeManifest(EncodeManifest(*manifest));
  Require(again.ok() && EncodeManifest(*again) == EncodeManifest(*manifest));
  return 0;
}
