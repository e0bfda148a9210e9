// Where damage lies, for whoever counts blocks.
#pragma once

#include "services/model/recording/damage_kind.h"

namespace tapedeck::services::model {

// Whether it is one block's damage; else it is that of a file beside the payload.
inline bool IsOfBlock(DamageKind kind) {
  return kind != DamageKind::kHeader && kind != DamageKind::kManifest;
}

}  // namespace tapedeck::services::model
