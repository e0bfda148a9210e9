#include "storage_node/store/notebook.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"
#include "storage_node/format/lun_note.h"

namespace tapedeck::storage_node::store {

absl::Status Describe(Notebook& notebook, const services::Lun& lun) {
  TD_ASSIGN_OR_RETURN(const Note note, notebook.ReadNote());
  format::LunNote said;
  if (note.generation > 0) {
    TD_ASSIGN_OR_RETURN(said, format::DecodeLunNote(note.text));
  }
  for (services::Channel& channel : said.channels) {
    TD_ASSIGN_OR_RETURN(const auto ids, services::ParseName(channel.name, {"luns", "channels"}));
    channel.name = absl::StrCat(lun.name, "/channels/", ids[1]);
  }
  said.lun = lun;
  return notebook.WriteNote(
      {.generation = note.generation + 1, .text = format::EncodeLunNote(said)});
}

}  // namespace tapedeck::storage_node::store
