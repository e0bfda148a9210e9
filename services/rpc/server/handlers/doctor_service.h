// tapedeck.v1.DoctorService: what is wrong with a node.
#pragma once

#include "services/observe/doctor/doctor.h"
#include "services/rpc/server/service.h"

namespace tapedeck::services::server {

// `doctor` outlives the server.
ServiceFactory DoctorServiceOver(doctor::Doctor& doctor);

}  // namespace tapedeck::services::server
