#include "tests/services/rpc/identity/authority.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/shared_data.h"

namespace tapedeck::services::identity {
namespace {

std::string NewDirectory() {
  std::string name = absl::StrCat(testing::TempDir(), "/tapedeck.XXXXXX");
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

void Run(const std::string& arguments) {
  const std::string line =
      absl::StrCat("bash ", TreeFile("tests/e2e/authority.sh"), " ", arguments);
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
}

}  // namespace

Authority::Authority() : directory_(NewDirectory()) { Run(absl::StrCat("authority ", directory_)); }

Authority::~Authority() { std::filesystem::remove_all(directory_); }

TlsFiles Authority::Issue(const std::string& name, const std::string& names, int days,
                          const std::string& subject) const {
  Run(absl::StrCat("certificate ", directory_, " ", name, " '", names, "' ", days, " ", subject));
  const std::string stem = absl::StrCat(directory_, "/", name);
  return {.cert = stem + ".pem", .key = stem + ".key", .ca = directory_ + "/ca.pem"};
}

std::string Authority::Write(const std::string& name, const std::string& text) const {
  const std::string path = absl::StrCat(directory_, "/", name);
  std::ofstream(path + ".new") << text;
  std::filesystem::rename(path + ".new", path);
  return path;
}

}  // namespace tapedeck::services::identity
