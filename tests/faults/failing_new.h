// Replaces operator new of the program it is linked into, in all its forms: one allocation of the
// whole process, or all from one on, finds no memory. As the standard says, the new-handler is
// called then, and without one std::bad_alloc is thrown or nullptr given.
#pragma once

#include <cstdint>

namespace tapedeck::faults {

// The n-th from now on, of whatever thread, counted from 1, and with `for_ever` all after it. 0:
// none.
void FailAllocation(uint64_t n, bool for_ever = false);

// Since FailAllocation.
uint64_t AllocationsCounted();

}  // namespace tapedeck::faults
