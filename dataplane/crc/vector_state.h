// What code that has used the whole of the processor's widest registers leaves in them.
#pragma once

namespace tapedeck::dataplane {

// Empties their upper parts, of the calling thread. While something is there each instruction of
// SSE waits for the one before it that wrote the same register, and a thread made by this one
// begins so, too: ISA-L's CRC with AVX-512 leaves it, and made the samples of synth after it 2.7
// times slower.
void ClearVectorState();

}  // namespace tapedeck::dataplane
