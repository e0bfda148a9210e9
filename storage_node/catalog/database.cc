#include "storage_node/catalog/database.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::catalog {
namespace {

constexpr int kBusyTimeoutMs = 2'000;

std::string DirectoryOf(sqlite3* connection) {
  const char* file = sqlite3_db_filename(connection, "main");
  const std::string path = file == nullptr ? "" : file;
  return path.substr(0, path.rfind('/'));
}

absl::Status Error(absl::string_view operation, int result, sqlite3* connection,
                   const std::string& directory) {
  const bool own = (sqlite3_errcode(connection) & 0xff) == (result & 0xff);
  const std::string text =
      absl::StrCat(operation, ": ", own ? sqlite3_errmsg(connection) : sqlite3_errstr(result));
  const int error = own ? sqlite3_system_errno(connection) : 0;
  if (error == EMFILE || error == ENFILE) {
    return disk::StateUnusable(
        directory, operation, absl::StrCat(text, ": ", std::strerror(error)),
        error == EMFILE ? "give the node more file descriptors (ulimit -n, LimitNOFILE of its unit)"
                        : "give the machine more file descriptors (sysctl fs.file-max)");
  }
  switch (result & 0xff) {
    case SQLITE_FULL:
      return disk::StateFull(directory, operation, text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return disk::StateUnusable(directory, operation, text,
                                 "stop the node and run tapedeck-storage --rebuild-catalog");
    default:
      if (error == ENOSPC) {
        return disk::StateFull(directory, operation, text);
      }
      return disk::StateUnusable(directory, operation, text);
  }
}

absl::Status Error(absl::string_view operation, int result, sqlite3* connection) {
  return Error(operation, result, connection, DirectoryOf(connection));
}

absl::Status Execute(sqlite3* connection, const char* sql) {
  dataplane::MayWait("the catalog");
  const int result = sqlite3_exec(connection, sql, nullptr, nullptr, nullptr);
  return result == SQLITE_OK ? absl::OkStatus() : Error("sqlite3_exec", result, connection);
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
  return Error("sqlite3_step", result, sqlite3_db_handle(statement_.get()));
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const auto bytes = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return text == nullptr ? "" : std::string(text, bytes);
}

absl::StatusOr<Database> Database::Open(const std::string& path) {
  sqlite3* connection = nullptr;
  const int result = sqlite3_open(path.c_str(), &connection);
  Database database(connection, path);
  if (result != SQLITE_OK) {
    return Error(absl::StrCat("sqlite3_open ", path), result, connection, database.directory());
  }
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  // NORMAL may lose the last commits in a power cut but not the file; start-up reads the truth from
  // the recordings' own files anyway.
  TD_RETURN_IF_ERROR(database.Run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"));
  TD_ASSIGN_OR_RETURN(database.file_, PlaceOf(path, database.directory()));
  TD_ASSIGN_OR_RETURN(database.directory_, PlaceOf(database.directory(), database.directory()));
  return database;
}

absl::StatusOr<Database::Place> Database::PlaceOf(const std::string& path,
                                                  const std::string& directory) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) return Place{.device = found.st_dev, .inode = found.st_ino};
  if (errno == ENOENT || errno == ENOTDIR) return Place();
  return disk::StateUnusable(directory, "stat",
                             absl::StrCat("stat ", path, ": ", std::strerror(errno)));
}

absl::Status Database::CheckPlace() const {
  TD_ASSIGN_OR_RETURN(const Place file, PlaceOf(path_, directory()));
  if (file == file_) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const Place now, PlaceOf(directory(), directory()));
  if (now == directory_) {
    return disk::StateUnusable(
        directory(), "stat",
        absl::StrCat(path_, " was removed or replaced while the node had it open"),
        "start the node again: it rebuilds the catalog from the files of its LUNs");
  }
  return disk::StateUnusable(
      directory(), "stat",
      absl::StrCat("the state directory ", directory(), " was removed or replaced while the node ",
                   "had it open"),
      "move it back; if it is lost, start the node again, then: tapectl lun attach --member with "
      "each member of its LUNs");
}

absl::Status Database::Run(const char* sql) { return Execute(connection_.get(), sql); }

absl::StatusOr<Transaction> Database::Begin() {
  // One that could not be rolled back when it failed.
  if (sqlite3_get_autocommit(connection_.get()) == 0) TD_RETURN_IF_ERROR(Run("ROLLBACK"));
  Transaction transaction(connection_.get());
  TD_RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
  return transaction;
}

absl::Status Transaction::Commit() { return Execute(connection_.get(), "COMMIT"); }

void Transaction::RollBack::operator()(sqlite3* connection) const {
  if (sqlite3_get_autocommit(connection) != 0) return;
  // Begin tries again.
  Execute(connection, "ROLLBACK").IgnoreError();
}

absl::StatusOr<Statement> Database::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v2(connection_.get(), sql, -1, &statement, nullptr);
  if (result != SQLITE_OK) return Error("sqlite3_prepare", result, connection_.get());
  return Statement(statement);
}

absl::StatusOr<int64_t> Database::Number(const char* sql) {
  TD_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Int(0) : 0;
}

}  // namespace tapedeck::storage_node::catalog
