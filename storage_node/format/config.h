// lun.json and channel.json: what was configured, kept where the data is.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::format {

// used_bytes and recordings are not kept. `member` says which of lun.members the file lies on.
std::string EncodeLun(const services::Lun& lun, uint32_t member);
// DATA_LOSS, or INVALID_ARGUMENT (NAME_INVALID): damaged, or with values that no LUN has
// (limits.h). Whether there is such a store is for who opens it to say.
absl::StatusOr<services::Lun> DecodeLun(absl::string_view text);

// The same with the number of the member it lies on.
struct LunMember {
  services::Lun lun;
  uint32_t member = 0;
};
absl::StatusOr<LunMember> DecodeLunMember(absl::string_view text);

// `lun_uid`: what the LUN's recordings have; it vouches for the channel under any name of the LUN.
std::string EncodeChannel(const services::Channel& channel, absl::string_view lun_uid = "");
// The same of a channel.
absl::StatusOr<services::Channel> DecodeChannel(absl::string_view text);

struct ChannelFile {
  services::Channel channel;
  std::string lun_uid;  // empty: it says none
};
absl::StatusOr<ChannelFile> DecodeChannelFile(absl::string_view text);

}  // namespace tapedeck::storage_node::format
