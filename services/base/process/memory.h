// What a program does when an allocation fails, and with what its allocator keeps. One that gets no
// memory ends, at once and saying so.
#pragma once

namespace tapedeck::services {

// sysexits.h calls it a system error; no other failure of ours has it.
inline constexpr int kOutOfMemoryExit = 71;

// Called once, first in main. From then on an operator new that gets no memory ends the process
// before anything unwinds through half-updated state: to recordings that is a kill -9, which
// recovery is made for. What is sized by a client, a peer or a setting never comes to this: it is
// checked when it is admitted, and refused (dataplane/memory/available.h).
void EndWhenOutOfMemory();

// What an allocator keeps of memory that was freed, so that a burst does not last.

// An allocator's arenas, of which it makes eight for each processor, keep to themselves what was
// freed in them: on a large machine hundreds of megabytes that nobody has. Called once, in main:
// from then on there are four. What moves blocks allocates nothing. Source: mallopt(3),
// M_ARENA_MAX.
void ShareSpareMemory();

// Gives it back to the system if there is much of it. Takes some milliseconds then, in which others
// may wait for an allocation; to be called now and then on a thread of no session.
void GiveBackSpareMemory();

}  // namespace tapedeck::services
