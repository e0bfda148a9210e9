#include "tests/faults/failing_sql.h"

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <functional>

#include "absl/time/clock.h"

namespace tapedeck::faults {
namespace {

constexpr absl::Duration kLittle = absl::Milliseconds(2);

std::atomic<bool> failing = false;
std::atomic<SqlFault> fault = SqlFault::kBefore;
std::atomic<uint64_t> first = 0;
std::atomic<uint64_t> operations = 0;

// Runs an operation, or what the fault makes of it.
int Run(bool writes, const std::function<int()>& act) {
  if (!failing) return act();
  const uint64_t now = ++operations;
  const SqlFault what = fault;
  if (now < first) return act();
  switch (what) {
    case SqlFault::kBefore:
      return now == first ? SQLITE_IOERR : act();
    case SqlFault::kAfter: {
      const int result = act();
      return now == first ? SQLITE_IOERR : result;
    }
    case SqlFault::kFull:
      return writes ? SQLITE_FULL : act();
    case SqlFault::kBroken:
      return SQLITE_IOERR;
    case SqlFault::kSlow:
      absl::SleepFor(kLittle);
      return act();
    case SqlFault::kHangs:
      while (failing) absl::SleepFor(kLittle);
      return act();
  }
  return act();
}

}  // namespace

void FailSql(SqlFault what, uint64_t n) {
  operations = 0;
  first = n;
  fault = what;
  failing = true;
}

uint64_t SqlOperations() { return operations; }

void EndSqlFault() { failing = false; }

}  // namespace tapedeck::faults

using tapedeck::faults::Run;

extern "C" {
int __real_sqlite3_step(sqlite3_stmt*);
int __real_sqlite3_exec(sqlite3*, const char*, int (*)(void*, int, char**, char**), void*, char**);
int __real_sqlite3_prepare_v2(sqlite3*, const char*, int, sqlite3_stmt**, const char**);

int __wrap_sqlite3_step(sqlite3_stmt* statement) {
  return Run(sqlite3_stmt_readonly(statement) == 0, [&] { return __real_sqlite3_step(statement); });
}

int __wrap_sqlite3_exec(sqlite3* connection, const char* sql,
                        int (*row)(void*, int, char**, char**), void* argument, char** error) {
  const bool writes = std::strncmp(sql, "COMMIT", 6) == 0 || std::strstr(sql, "user_version =");
  return Run(writes, [&] { return __real_sqlite3_exec(connection, sql, row, argument, error); });
}

// A statement that an error comes with is nobody's.
int __wrap_sqlite3_prepare_v2(sqlite3* connection, const char* sql, int bytes,
                              sqlite3_stmt** statement, const char** rest) {
  *statement = nullptr;
  const int result = Run(
      false, [&] { return __real_sqlite3_prepare_v2(connection, sql, bytes, statement, rest); });
  if (result == SQLITE_OK) return result;
  sqlite3_finalize(*statement);
  *statement = nullptr;
  return result;
}
}
