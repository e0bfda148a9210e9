#include "storage_node/disk/errors.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/errors.h"

namespace tapedeck::storage_node::disk {
namespace {

std::string IdOf(absl::string_view lun) { return std::string(absl::StripPrefix(lun, "luns/")); }

// Without what is not known.
absl::Status Full(std::map<std::string, std::string> metadata, absl::string_view text) {
  std::erase_if(metadata, [](const auto& entry) { return entry.second.empty(); });
  return services::WithReason(absl::ResourceExhaustedError(text), "LUN_FULL", std::move(metadata));
}

}  // namespace

absl::Status LunExists(absl::string_view lun, absl::string_view text) {
  return services::WithReason(absl::AlreadyExistsError(text), "LUN_EXISTS", {{"lun", IdOf(lun)}});
}

absl::Status LunNotEmpty(absl::string_view lun, uint64_t recordings, absl::string_view text) {
  return services::WithReason(absl::FailedPreconditionError(text), "LUN_NOT_EMPTY",
                              {{"lun", IdOf(lun)}, {"recordings", absl::StrCat(recordings)}});
}

absl::Status LunFull(absl::string_view lun, uint64_t capacity_bytes, uint64_t used_bytes,
                     absl::string_view text) {
  return Full({{"lun", IdOf(lun)},
               {"capacity_bytes", absl::StrCat(capacity_bytes)},
               {"used_bytes", absl::StrCat(used_bytes)}},
              text);
}

absl::Status MemberFull(absl::string_view member, absl::string_view text) {
  return Full({{"member", std::string(member)}}, text);
}

absl::Status MemberNotEmpty(absl::string_view member, absl::string_view found,
                            absl::string_view text) {
  return services::WithReason(absl::FailedPreconditionError(text), "MEMBER_NOT_EMPTY",
                              {{"member", std::string(member)}, {"found", std::string(found)}});
}

absl::Status MemberUnusable(absl::string_view member, absl::string_view text,
                            absl::StatusCode code) {
  return services::WithReason(absl::Status(code, text), "MEMBER_UNUSABLE",
                              {{"member", std::string(member)}});
}

absl::Status Unusable(absl::string_view member, absl::string_view why, absl::StatusCode code) {
  return MemberUnusable(member, absl::StrCat("member ", member, ": ", why), code);
}

absl::Status StoreIo(absl::string_view member, absl::string_view operation, absl::string_view text,
                     absl::StatusCode code) {
  return services::WithReason(
      absl::Status(code, text), "STORE_IO",
      {{"member", std::string(member)}, {"operation", std::string(operation)}});
}

}  // namespace tapedeck::storage_node::disk
