// Names as people write them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/client/catalog_client.h"

namespace tapedeck::services::tapectl {

// LUN or luns/LUN
absl::StatusOr<std::string> LunNameOf(const std::string& text);

// LUN/CHANNEL or luns/LUN/channels/CHANNEL
absl::StatusOr<std::string> ChannelNameOf(const std::string& text);

// A full name, LUN/CHANNEL/ID, LUN/CHANNEL/latest, or an ID alone, which is looked for in all
// channels: that of a recording or of a stream (streams.h).
absl::StatusOr<std::string> RecordingNameOf(const std::string& text,
                                            client::CatalogClient& catalog);

// For what changes: the name of an original leads to its copy once it is gone, and whoever gives it
// may not mean the copy. RECORDING_NOT_FOUND unless `text` is a name of `found` itself.
absl::Status CheckNamed(const std::string& text, const Recording& found);

// For what deletes: as CheckNamed, and refuses the ID alone that a copy shares with its original.
absl::Status CheckMeant(const std::string& text, const Recording& found);

// INLET or inlets/INLET
absl::StatusOr<std::string> InletNameOf(const std::string& text);

// HOST:PORT/INLET, or HOST:PORT,HOST:PORT/INLET for a stream that is dealt to several workers.
struct InletAddress {
  std::string worker;  // HOST:PORT, or several
  std::string name;    // inlets/INLET
};
absl::StatusOr<InletAddress> InletAddressOf(const std::string& text);

// "l0/c0/ID" of a full name, which may stand behind "HOST:PORT/"; another text as it is.
std::string ShortName(const std::string& name);

// `text` with the full names short that stand in it as words. A path may look like the name of a
// LUN alone, which stays as it is without `luns`.
std::string WithShortNames(absl::string_view text, bool luns = true);

// JOB or jobs/JOB
absl::StatusOr<std::string> JobNameOf(const std::string& text);

}  // namespace tapedeck::services::tapectl
