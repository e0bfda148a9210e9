// Closes recordings that nobody closed: after a kill, a crash or a session that vanished. Finds out
// exactly which blocks are there and seals the recording as SALVAGED. Can be repeated at any time.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recording {

// Waits for the disk. The manifest of a stored recording, from whichever copy is good. NOT_FOUND:
// no copy is there; examine.h says what becomes of such a recording.
absl::StatusOr<format::Manifest> LoadManifest(store::Store& store, const store::RecordingPath& path,
                                              const dataplane::Clock& clock);

// DATA_LOSS unless a manifest that was read is that of the recording at `path` of this LUN: blocks
// are looked for on as many members as it says, which may be fewer than the LUN has got since.
absl::Status CheckWhose(const format::Manifest& manifest, const store::RecordingPath& path,
                        const services::Lun& lun);

// What salvage may cut off the payload files: what lies beyond the last block, or, where the
// manifest is lost, nothing. Nobody knows then whether the recording had been closed, and what was
// put there since.
enum class Cut { kBeyondTheLast, kNothing };

// Waits for the disk; reads the whole index but only the payload beyond the stored watermark.
// `manifest` is in state RECORDING and nobody writes the recording; what it lists as missing stays
// so. Payload is cut off only where a sound index says that it ends, and none if some is there that
// may be another recording's. Returns the sealed
// manifest. DATA_LOSS, and nothing is changed, if it has more gaps than a manifest may list.
absl::StatusOr<format::Manifest> SalvageRecording(
    store::Store& store, const store::RecordingPath& path, format::Manifest manifest,
    const std::string& cause, const dataplane::Clock& clock, Cut cut = Cut::kBeyondTheLast);

}  // namespace tapedeck::storage_node::recording
