// Writes what SigMF's programs read beside the samples of a closed recording, where these are one
// file: on one member that is a directory.
#pragma once

#include "dataplane/clock.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recordings {

// `manifest` is of a closed recording, which the caller protects from deletion. Waits for the disk.
// What fails is logged: the recording is whole without it, and the next change writes it.
void WriteSigmfView(store::Store& store, const store::RecordingPath& path,
                    const format::Manifest& manifest, const dataplane::Clock& clock);

}  // namespace tapedeck::storage_node::recordings
