// SQLite as objects: a connection and its statements.
#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::catalog {

// A prepared statement: Bind, then Step until false. One thread at a time.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement, sqlite3_finalize) {}

  void Bind(int number, absl::string_view text);  // numbers from 1
  void Bind(int number, int64_t value);

  // True: there is a row. False: there is none left.
  absl::StatusOr<bool> Step();

  std::string Text(int column) const;  // columns from 0
  int64_t Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

 private:
  std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement_;
};

// What is changed counts from Commit on; without one it is rolled back. Ends before its Database.
class Transaction {
 public:
  // After an error it may count all the same.
  absl::Status Commit();

 private:
  friend class Database;
  struct RollBack {
    void operator()(sqlite3* connection) const;
  };
  explicit Transaction(sqlite3* connection) : connection_(connection) {}
  std::unique_ptr<sqlite3, RollBack> connection_;
};

// One thread at a time. Errors: STATE_UNUSABLE, as disk/errors.h has it.
class Database {
 public:
  // Opens or creates the file, in WAL mode.
  static absl::StatusOr<Database> Open(const std::string& path);

  // The file and its directory are still those that were opened. STATE_UNUSABLE: somebody has
  // removed or replaced one of them, so that nothing written here would be found again.
  absl::Status CheckPlace() const;

  absl::Status Run(const char* sql);
  absl::StatusOr<Transaction> Begin();
  absl::StatusOr<Statement> Prepare(const char* sql);
  // What a query for one number answers.
  absl::StatusOr<int64_t> Number(const char* sql);

 private:
  // What a path led to.
  struct Place {
    dev_t device = 0;
    ino_t inode = 0;

    bool operator==(const Place&) const = default;
  };

  Database(sqlite3* connection, std::string path)
      : path_(std::move(path)), connection_(connection, sqlite3_close) {}
  static absl::StatusOr<Place> PlaceOf(const std::string& path, const std::string& directory);
  std::string directory() const { return path_.substr(0, path_.rfind('/')); }

  std::string path_;
  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection_;
  Place file_, directory_;
};

}  // namespace tapedeck::storage_node::catalog
