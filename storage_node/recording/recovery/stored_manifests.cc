#include "storage_node/recording/recovery/stored_manifests.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tapedeck::storage_node::recording {
namespace {

// A file that lost its bytes has nothing that could be overwritten.
bool HoldsNoByte(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c == '\0'; });
}

}  // namespace

bool Manifests::LackOn(uint32_t members) const {
  const size_t end = std::min<size_t>(lacking.size(), members);
  return std::find(lacking.begin(), lacking.begin() + end, true) != lacking.begin() + end;
}

Manifests ReadManifests(CallerLoop& loop, store::RecordingFiles& files) {
  Manifests all{.newest = absl::NotFoundError("no copy of the manifest")};
  bool any_damaged = false;
  bool any_other = false;
  for (uint32_t copy = 0; copy < files.manifest_copies(); ++copy) {
    const auto text = Await<absl::StatusOr<std::string>>(
        loop, [&](auto done) { files.ReadManifest(copy, std::move(done)); });
    all.lacking.push_back(absl::IsNotFound(text.status()) || (text.ok() && HoldsNoByte(*text)));
    if (all.lacking.back()) continue;
    const bool damaged = text.ok() && format::IsDamagedManifest(*text);
    (damaged ? any_damaged : any_other) = true;
    auto manifest = text.ok() ? format::DecodeManifest(*text) : text.status();
    if (manifest.ok() && all.newest.ok() && manifest->generation <= all.newest->generation) {
      continue;
    }
    // Damage in one copy says more than the absence of the other; what is not ours, or cannot be
    // read, says more than damage, as it is what keeps the recording from being mended.
    if (manifest.ok() || absl::IsNotFound(all.newest.status()) || (!damaged && !all.newest.ok())) {
      all.newest = std::move(manifest);
    }
  }
  all.all_damaged = any_damaged && !any_other;
  return all;
}

absl::Status CheckMembers(const std::optional<format::IndexHeader>& header,
                          const format::Manifest& manifest) {
  if (!header.has_value() || header->recording != manifest.identity.recording ||
      header->members == manifest.members) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("the manifest of ", manifest.id, " says ",
                                          manifest.members, " members, and its index ",
                                          header->members));
}

}  // namespace tapedeck::storage_node::recording
