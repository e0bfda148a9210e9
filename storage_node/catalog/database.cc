#include "storage_node/catalog/database.h"

#include "absl/strings/str_cat.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::catalog {
namespace {

constexpr int kBusyTimeoutMs = 2'000;

absl::Status Error(absl::string_view operation, sqlite3* connection) {
  return disk::StoreIo("catalog", operation,
                       absl::StrCat(operation, ": ", sqlite3_errmsg(connection),
                                    "; if the catalog is damaged, stop the node and run "
                                    "tapedeck-storage --rebuild-catalog"));
}

}  // namespace

void Statement::Bind(int number, absl::string_view text) {
  sqlite3_bind_text(statement_.get(), number, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
}

void Statement::Bind(int number, int64_t value) {
  sqlite3_bind_int64(statement_.get(), number, value);
}

absl::StatusOr<bool> Statement::Step() {
  dataplane::MayWait("the catalog");
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return Error("sqlite3_step", sqlite3_db_handle(statement_.get()));
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const auto bytes = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return text == nullptr ? "" : std::string(text, bytes);
}

absl::StatusOr<Database> Database::Open(const std::string& path) {
  sqlite3* connection = nullptr;
  const int result = sqlite3_open(path.c_str(), &connection);
  Database database(connection);
  if (result != SQLITE_OK) return Error(absl::StrCat("sqlite3_open ", path), connection);
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  // NORMAL may lose the last commits in a power cut but not the file; start-up reads the truth from
  // the recordings' own files anyway.
  TD_RETURN_IF_ERROR(database.Run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"));
  return database;
}

absl::Status Database::Run(const char* sql) {
  dataplane::MayWait("the catalog");
  if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return Error("sqlite3_exec", connection_.get());
}

absl::StatusOr<Statement> Database::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
    return Error("sqlite3_prepare", connection_.get());
  }
  return Statement(statement);
}

absl::StatusOr<int64_t> Database::Number(const char* sql) {
  TD_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Int(0) : 0;
}

}  // namespace tapedeck::storage_node::catalog
