// What makes a copy as good as its original, once its blocks are there. Each step may be done
// again. One thread that may wait.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/client/recorder_client.h"

namespace tapedeck::services::copying {

// The whole copy of `source` that the channel has already; none: it has none.
absl::StatusOr<std::optional<Recording>> FindCopy(client::CatalogClient& catalog,
                                                  const Recording& source,
                                                  const std::string& channel);

// The same where the source is gone, of which only the name is known.
absl::StatusOr<std::optional<Recording>> FindMoved(client::CatalogClient& catalog,
                                                   const std::string& source,
                                                   const std::string& channel);

// Description, labels, annotations, and whether it is kept. What somebody has added to the copy
// stays. CANCELLED (JOB_CANCELLED): `go_on`, which is asked between the calls, has ended it.
absl::Status CopyNotes(
    client::CatalogClient& catalog, client::RecorderClient& recorder, const Recording& source,
    const std::string& copy, const std::function<bool()>& go_on = [] { return true; });

// Compares it with the source, and reads its manifest, index and blocks where they lie. DATA_LOSS
// (BLOCK_DAMAGED): it does not have all that the source had.
absl::Status CheckCopy(client::CatalogClient& catalog, const Recording& source,
                       const std::string& copy, absl::Duration timeout);

// The recording is not there; nothing is known of one whose LUN or channel is not.
bool IsGone(const absl::Status& status);

// FAILED_PRECONDITION (RECORDING_BUSY): it is not as it was when it was copied, as its worker has
// gone on with it.
absl::Status CheckNotGoneOn(const Recording& source, const Recording& now);

// The last step of a move: what was noted of the original since it was read, as `source`, goes with
// it. It may be gone already. FAILED_PRECONDITION (RECORDING_BUSY): somebody plays it, or it went
// on after it was copied.
absl::Status DeleteOriginal(client::CatalogClient& from, client::CatalogClient& to,
                            client::RecorderClient& recorder, const Recording& source,
                            const std::string& copy);

// Deletes what was left of other copies of `source` in that channel that did not get to their end.
absl::Status RemoveUnfinished(client::CatalogClient& catalog, const Recording& source,
                              const std::string& channel);

}  // namespace tapedeck::services::copying
