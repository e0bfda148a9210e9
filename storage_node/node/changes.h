// What of a LUN or a channel has changed, for the log.
#pragma once

#include <string>

#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::node {

// E.g. "capacity_bytes 1000 -> 2000, full_policy stop -> ring"; "none".
std::string Changes(const services::Lun& before, const services::Lun& after);
std::string Changes(const services::Channel& before, const services::Channel& after);

}  // namespace tapedeck::storage_node::node
