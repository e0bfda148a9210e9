// What a process finds around itself as it starts, so that none of it ends the process, or spoils
// its files, later.
//
// A program that links this opens /dev/null as each of the descriptors 0 to 2 that is closed,
// before any library opens a file: else that would have one of these numbers, and what is logged
// would go into it.
#pragma once

namespace tapedeck::services {

// First in main, before any thread. SIGXFSZ is ignored: a file that would become larger than the
// process may write (RLIMIT_FSIZE) is the error EFBIG of that write, see setrlimit(2).
void PrepareSurroundings();

// Whether SIGHUP, a terminal that is closed, asks the process to end. nohup(1) has it ignored: what
// is to outlive its terminal does. Any thread.
bool HangUpEnds();

}  // namespace tapedeck::services
