// Makes operations of SQLite fail: the program is linked with its calls led through here.
#pragma once

#include <cstdint>

namespace tapedeck::faults {

enum class SqlFault {
  kBefore,  // one fails, and has done nothing
  kAfter,   // one does all, and an error is returned
  kFull,    // from one on all that writes fails, as on a full disk
  kBroken,  // from one on all fails, reading as well
  kSlow,    // from one on each takes a while
  kHangs,   // from one on each waits for the end of the fault
};

// From the `n`th operation from here; until EndSqlFault.
void FailSql(SqlFault fault, uint64_t n);
// How many there have been since then.
uint64_t SqlOperations();
void EndSqlFault();

}  // namespace tapedeck::faults
