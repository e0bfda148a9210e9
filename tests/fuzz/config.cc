// The text of a lun.json, a channel.json or a device's note.
#include "storage_node/format/config.h"

#include "storage_node/format/lun_note.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/mended_json.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tapedeck::storage_node::format;  // NOLINT: the names under test
  using tapedeck::fuzz::Require;
  tapedeck::fuzz::Input input(data, size);
  const absl::string_view text = input.Text();
  (void)DecodeLun(text).ok();
  (void)DecodeChannel(text).ok();
  (void)DecodeLunNote(text).ok();
  const std::string mended = tapedeck::fuzz::MendedJson(text);
  if (const auto lun = DecodeLun(mended); lun.ok()) {
    const auto again = DecodeLun(EncodeLun(*lun, 0));
    Require(again.ok() && EncodeLun(*again, 0) == EncodeLun(*lun, 0));
  }
  if (const auto note = DecodeLunNote(mended); note.ok()) {
    Require(DecodeLunNote(EncodeLunNote(*note)).ok());
  }
  if (const auto channel = DecodeChannel(mended); channel.ok()) {
    Require(channel->block_bytes > 0 && channel->pre_trigger_ns + channel->post_trigger_ns >= 0);
    const auto again = DecodeChannel(EncodeChannel(*channel));
    Require(again.ok() && EncodeChannel(*again) == EncodeChannel(*channel));
  }
  return 0;
}
