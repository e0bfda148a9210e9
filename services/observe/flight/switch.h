// How both programs and the bench are told to leave no stamps.
#pragma once

namespace tapedeck::services::flight {

inline constexpr char kSwitchHelp[] =
    "Off only to measure what recording the steps of blocks costs; TAPEDECK_FLIGHT says it, too";
inline constexpr char kSwitchVariable[] = "TAPEDECK_FLIGHT";

}  // namespace tapedeck::services::flight
