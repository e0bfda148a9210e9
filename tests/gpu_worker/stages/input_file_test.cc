// A source waits for nothing but a regular file's bytes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "gpu_worker/stages/file/file.h"
#include "services/base/errors.h"
#include "tests/scratch_file.h"

namespace tapedeck::gpu_worker::stages::file {
namespace {

std::string ReasonOfSource(const std::string& path) {
  const auto source = OpenSource(
      {.files = services::files::FileRoots::Anywhere(), .path = path, .raw_datatype = "cu8"});
  const auto reason = services::ReasonOf(source.status());
  return reason.has_value() ? reason->reason : std::string(source.status().message());
}

// Opening either FIFO to read waits for its writer, which never comes.
TEST(InputFileTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  for (const char* name : {"fifo", "fifo.sigmf-meta"}) {
    const std::string path = ScratchPath(name);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(ReasonOfSource(path), "FILE_INVALID") << name;
  }
  EXPECT_EQ(ReasonOfSource("/dev/zero"), "FILE_INVALID");
  EXPECT_EQ(ReasonOfSource(std::filesystem::path(ScratchPath("x")).parent_path()), "FILE_INVALID");
  EXPECT_EQ(ReasonOfSource(ScratchPath("missing")), "FILE_NOT_FOUND");
  EXPECT_EQ(ReasonOfSource(ScratchPath("none.sigmf-meta")), "FILE_NOT_FOUND");
}

// What a .sigmf-meta names goes through the same door: a link beside it may lead anywhere.
TEST(InputFileTest, SamplesOfASigmfRecordingLieBeneathTheDirectoryToo) {
  const std::string meta = ScratchPath("in/a.sigmf-meta");
  const std::string folder = std::filesystem::path(meta).parent_path();
  std::filesystem::create_directories(folder);
  WriteFile(meta, R"({"global": {"core:datatype": "cu8"}})");
  WriteFile(ScratchPath("secret"), "samples");
  const auto files = services::files::FileRoots::Parse({"read:" + folder});
  ASSERT_TRUE(files.ok()) << files.status();
  const auto reason = [&] {
    const auto source = OpenSource({.files = *files, .path = meta});
    return source.ok() ? "" : services::ReasonOf(source.status())->reason;
  };
  std::filesystem::create_symlink("../secret", folder + "/a.sigmf-data");
  EXPECT_EQ(reason(), "FILE_OUTSIDE_ROOTS");
  std::filesystem::rename(ScratchPath("secret"), folder + "/a.sigmf-data");
  EXPECT_EQ(reason(), "");
}

TEST(InputFileTest, ASocketIsRefused) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = "/tmp/tapedeck-socket." + std::to_string(getpid());
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(ReasonOfSource(path), "FILE_INVALID");
  close(fd);
  unlink(path.c_str());
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::file
