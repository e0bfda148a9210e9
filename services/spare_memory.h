// What an allocator keeps of memory that was freed, so that a burst does not last.
#pragma once

namespace tapedeck::services {

// Gives it back to the system if there is much of it. Takes some milliseconds then, in which others
// may wait for an allocation; to be called now and then on a thread of no session.
void GiveBackSpareMemory();

}  // namespace tapedeck::services
