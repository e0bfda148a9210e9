// What a program does when an allocation fails: it ends, at once and saying so.
#pragma once

namespace tapedeck::services {

// sysexits.h calls it a system error; no other failure of ours has it.
inline constexpr int kOutOfMemoryExit = 71;

// Called once, first in main. From then on an operator new that gets no memory ends the process
// before anything unwinds through half-updated state: to recordings that is a kill -9, which
// recovery is made for. What is sized by a client, a peer or a setting never comes to this: it is
// checked when it is admitted, and refused (dataplane/memory/available.h).
void EndWhenOutOfMemory();

}  // namespace tapedeck::services
