// What a member that is no directory says of its LUN: all that a posix member has in lun.json and
// its channels' files, as one text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::format {

struct LunNote {
  services::Lun lun;
  std::vector<services::Channel> channels;
};

std::string EncodeLunNote(const LunNote& note);
// DATA_LOSS, or INVALID_ARGUMENT (NAME_INVALID): damaged, longer than kMaxNoteBytes, or with values
// that no LUN or channel has (limits.h).
absl::StatusOr<LunNote> DecodeLunNote(absl::string_view text);

}  // namespace tapedeck::storage_node::format
