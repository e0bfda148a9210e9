#include "storage_node/format/lun_note.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/config.h"
#include "storage_node/format/json_fields.h"
#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::format {
namespace {

constexpr uint64_t kNoteVersion = 1;

}  // namespace

std::string EncodeLunNote(const LunNote& note) {
  nlohmann::json channels = nlohmann::json::array();
  for (const services::Channel& channel : note.channels) channels.push_back(EncodeChannel(channel));
  return SealJson({{"version", kNoteVersion},
                   {"lun", EncodeLun(note.lun, 0)},
                   {"channels", std::move(channels)}});
}

absl::StatusOr<LunNote> DecodeLunNote(absl::string_view text) {
  TD_ASSIGN_OR_RETURN(const nlohmann::json object,
                      OpenJson(text, "the member's note", kMaxNoteBytes));
  JsonFields fields(object, "the member's note");
  TD_RETURN_IF_ERROR(
      fields.Require(fields.Uint("version", UINT64_MAX) == kNoteVersion, "version", "is not known")
          .status());
  LunNote note;
  TD_ASSIGN_OR_RETURN(note.lun, DecodeLun(fields.Text("lun")));
  for (const nlohmann::json& channel : fields.List("channels")) {
    fields.Require(channel.is_string(), "channels", "has one that is not a text");
    TD_RETURN_IF_ERROR(fields.status());
    TD_ASSIGN_OR_RETURN(auto decoded, DecodeChannel(channel.get_ref<const std::string&>()));
    note.channels.push_back(std::move(decoded));
  }
  TD_RETURN_IF_ERROR(fields.status());
  return note;
}

}  // namespace tapedeck::storage_node::format
