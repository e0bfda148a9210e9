// The nodes that --storage stands for, and names that say which of them is meant.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/site/nodes.h"

namespace tapedeck::services::tapectl {

// Each of HOST:PORT,dns:///HOST:PORT,srv:NAME. INVALID_ARGUMENT.
absl::Status CheckStorages(const std::string& text);

// --storage with each name that DNS has several nodes for replaced by them. Asks and waits, as long
// as a call at most; ARGUMENT_INVALID, NODE_UNREACHABLE (services/base/addresses/resolve.h).
absl::Status ResolveStorages(Nodes& asked);

// The one node that `text` means, of the option `field`; the same errors, and ARGUMENT_INVALID of
// several.
absl::StatusOr<std::string> OneNode(const Nodes& asked, absl::string_view field,
                                    const std::string& text);

// "NODE/REST" at the slash that ends NODE, which may have "dns:///" before it; REST is empty where
// there is none.
std::pair<absl::string_view, absl::string_view> SplitNode(absl::string_view text);

// `text` without the node that it may begin with: of NODE/LUN/CHANNEL the rest, where a name has
// `ids` ids or is a full one. --storage is that node alone then, by its address, or by the machine
// in its name as `tapectl nodes` shows it, MACHINE/storage, for which all are asked. NAME_INVALID:
// none of --storage, or several, are NODE.
absl::StatusOr<std::string> TakeNode(Nodes& asked, const std::string& text, size_t ids);

// `text` without the node that it may begin with, as TakeNode; but NODE with a port, or a name of
// DNS, may be any node. ARGUMENT_INVALID of the option `field`: the name of DNS has several.
absl::StatusOr<std::string> TakeAnyNode(Nodes& asked, absl::string_view field,
                                        const std::string& text, size_t ids);

}  // namespace tapedeck::services::tapectl
