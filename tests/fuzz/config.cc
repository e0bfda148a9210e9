// The text of a lun.json, a channel.json or a device's note.
#include "storage_node/format/config.h"

#include "storage_node/format/json_text.h"
#include "storage_node/format/lun_note.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/mended_json.h"

namespace {

// A note has texts with check values of their own in it.
std::string MendedNote(absl::string_view text) {
  using tapedeck::fuzz::MendedJson;
  auto note = tapedeck::storage_node::format::ParseJson(text, "text", 1 << 20);
  if (!note.ok()) return "";
  const auto mend = [](nlohmann::json& value) {
    if (value.is_string()) value = MendedJson(value.get_ref<const std::string&>());
  };
  for (nlohmann::json& value : *note) {
    mend(value);
    if (!value.is_array()) continue;
    for (nlohmann::json& one : value) mend(one);
  }
  return tapedeck::storage_node::format::SealJson(*std::move(note));
}

}  // namespace

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
  if (const auto note = DecodeLunNote(MendedNote(text)); note.ok()) {
    const auto again = DecodeLunNote(EncodeLunNote(*note));
    Require(again.ok() && EncodeLunNote(*again) == EncodeLunNote(*note));
  }
  if (const auto channel = DecodeChannel(mended); channel.ok()) {
    Require(channel->block_bytes > 0 && channel->pre_trigger_ns + channel->post_trigger_ns >= 0);
    const auto again = DecodeChannel(EncodeChannel(*channel));
    Require(again.ok() && EncodeChannel(*again) == EncodeChannel(*channel));
  }
  return 0;
}
