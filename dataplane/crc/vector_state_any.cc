#include "dataplane/crc/vector_state.h"

namespace tapedeck::dataplane {

void ClearVectorState() {}

}  // namespace tapedeck::dataplane
