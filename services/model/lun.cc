#include "services/model/lun.h"

#include "absl/strings/str_cat.h"
#include "services/model/words/check_fields.h"
#include "services/model/words/invalid.h"

namespace tapedeck::services::model {
namespace {

absl::Status CheckPrewrite(const Lun& lun) {
  if (lun.prewrite_files == 0 && lun.prewrite_bytes == 0) return absl::OkStatus();
  if (lun.prewrite_files == 0 || lun.prewrite_files > kMaxPrewriteFiles) {
    return Invalid("prewrite_files",
                   absl::StrCat("must be 1 to ", kMaxPrewriteFiles, " with prewrite_bytes"));
  }
  if (lun.prewrite_bytes == 0 || lun.prewrite_bytes % kPrewriteMultiple != 0 ||
      lun.prewrite_bytes > kMaxPrewriteBytes) {
    return Invalid("prewrite_bytes", absl::StrCat("must be a multiple of ", kPrewriteMultiple,
                                                  " above 0 with prewrite_files"));
  }
  return absl::OkStatus();
}

// How many a kind can keep, the storage node knows.
absl::Status CheckCopies(const Lun& lun) {
  if (lun.copies > kMaxCopies) {
    return Invalid("copies", absl::StrCat("must be 1 or ", kMaxCopies));
  }
  if (lun.mirrored() && lun.members.size() != lun.copies) {
    return Invalid("members", absl::StrCat("are ", lun.members.size(), ", and must be ", lun.copies,
                                           ": each copy needs a member of its own"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLun(const Lun& lun) {
  if (const absl::Status copies = CheckCopies(lun); !copies.ok()) return copies;
  if (const absl::Status prewrite = CheckPrewrite(lun); !prewrite.ok()) return prewrite;
  if (const absl::Status bounds = CheckFields(lun); !bounds.ok()) return bounds;
  return CheckDescription(lun.description, lun.labels, kConfiguredLabels);
}

}  // namespace tapedeck::services::model
