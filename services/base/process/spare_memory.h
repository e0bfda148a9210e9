// What an allocator keeps of memory that was freed, so that a burst does not last.
#pragma once

namespace tapedeck::services {

// An allocator's arenas, of which it makes eight for each processor, keep to themselves what was
// freed in them: on a large machine hundreds of megabytes that nobody has. Called once, in main:
// from then on there are four. What moves blocks allocates nothing. Source: mallopt(3),
// M_ARENA_MAX.
void ShareSpareMemory();

// Gives it back to the system if there is much of it. Takes some milliseconds then, in which others
// may wait for an allocation; to be called now and then on a thread of no session.
void GiveBackSpareMemory();

}  // namespace tapedeck::services
