// What the process itself uses, as every Prometheus client tells it.
#pragma once

#include <string>

#include "services/observe/telemetry/page.h"

namespace tapedeck::services::telemetry {

// When it started, in seconds since the Unix epoch, as `now` is. Asked once: it is not exact.
double ProcessStart(const std::string& proc, double now);

// All but that. What cannot be read in `proc`, "/proc", is left out.
void AddProcess(Page& page, const std::string& proc);

}  // namespace tapedeck::services::telemetry
