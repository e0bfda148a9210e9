#define FUSE_USE_VERSION 31
#include "services/formats/mount/mount.h"

#include <fcntl.h>
#include <fuse3/fuse.h>
#include <fuse3/fuse_lowlevel.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "services/base/errors.h"

namespace tapedeck::services::mount {
namespace {

// So many programs are answered at the same time, while others wait for the node.
constexpr int kThreads = 4;
constexpr int kLookEveryMs = 200;
// For how long the kernel believes a size: a recording may grow.
constexpr double kAttributesSeconds = 0.5;

const std::vector<MountedFile>& Files() {
  return static_cast<const MountSettings*>(fuse_get_context()->private_data)->files;
}

const MountedFile* Find(const char* path) {
  const auto& files = Files();
  const auto found = std::ranges::find_if(
      files, [path](const MountedFile& file) { return path == "/" + file.name; });
  return found == files.end() ? nullptr : &*found;
}

int Failed(const MountedFile& file, const absl::Status& status) {
  dataplane::Log(dataplane::LogLevel::kWarning, "mount", "a read failed",
                 {{"file", file.name}, {"error", std::string(status.message())}});
  return -EIO;
}

int GetAttributes(const char* path, struct stat* out, fuse_file_info* /*info*/) {
  *out = {};
  if (std::strcmp(path, "/") == 0) {
    out->st_mode = S_IFDIR | 0555;
    out->st_nlink = 2;
    return 0;
  }
  const MountedFile* file = Find(path);
  if (file == nullptr) return -ENOENT;
  const auto size = file->size();
  if (!size.ok()) return Failed(*file, size.status());
  out->st_mode = S_IFREG | 0444;
  out->st_nlink = 1;
  out->st_size = static_cast<off_t>(*size);
  return 0;
}

int ReadDirectory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t /*offset*/,
                  fuse_file_info* /*info*/, fuse_readdir_flags /*flags*/) {
  if (std::strcmp(path, "/") != 0) return -ENOENT;
  const auto none = static_cast<fuse_fill_dir_flags>(0);
  fill(buffer, ".", nullptr, 0, none);
  fill(buffer, "..", nullptr, 0, none);
  for (const MountedFile& file : Files()) fill(buffer, file.name.c_str(), nullptr, 0, none);
  return 0;
}

int Open(const char* path, fuse_file_info* info) {
  if (Find(path) == nullptr) return -ENOENT;
  return (info->flags & O_ACCMODE) == O_RDONLY ? 0 : -EROFS;
}

int Read(const char* path, char* buffer, size_t bytes, off_t offset, fuse_file_info* /*info*/) {
  const MountedFile* file = Find(path);
  if (file == nullptr) return -ENOENT;
  const auto read =
      file->read(static_cast<uint64_t>(offset), std::as_writable_bytes(std::span(buffer, bytes)));
  return read.ok() ? static_cast<int>(*read) : Failed(*file, read.status());
}

void* Begin(fuse_conn_info* /*connection*/, fuse_config* config) {
  config->attr_timeout = kAttributesSeconds;
  config->entry_timeout = kAttributesSeconds;
  return fuse_get_context()->private_data;
}

constexpr fuse_operations kOperations = {
    .getattr = GetAttributes, .open = Open, .read = Read, .readdir = ReadDirectory, .init = Begin};

// What the kernel asks, until nothing is mounted any more.
void Serve(fuse_session* session, const std::atomic<bool>& stop) {
  fuse_buf request = {};
  while (!stop && fuse_session_exited(session) == 0) {
    pollfd ready = {.fd = fuse_session_fd(session), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kLookEveryMs) <= 0) continue;
    const int bytes = fuse_session_receive_buf(session, &request);
    if (bytes == -EINTR || bytes == -EAGAIN) continue;  // another thread has it
    if (bytes <= 0) break;
    fuse_session_process_buf(session, &request);
  }
  free(request.mem);
}

absl::Status CheckDirectory(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error) &&
      std::filesystem::is_empty(directory, error) && !error) {
    return absl::OkStatus();
  }
  return ArgumentInvalid("directory", absl::StrCat(directory, " is not an empty directory"));
}

absl::Status ServeUntilEnd(fuse* files, const MountSettings& settings) {
  fuse_session* const session = fuse_get_session(files);
  const int fd = fuse_session_fd(session);
  // Of threads that wait for the same request one gets it.
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  std::atomic<bool> stop = false;
  std::atomic<int> serving = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Serve(session, stop);
      --serving;
    });
  }
  settings.on_mounted();
  while (serving == kThreads && settings.go_on()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookEveryMs));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return absl::OkStatus();
}

}  // namespace

absl::Status Mount(const MountSettings& settings) {
  if (absl::Status status = CheckDirectory(settings.directory); !status.ok()) return status;
  std::vector<std::string> words = {"tapectl", "-oro,fsname=tapedeck,subtype=tapedeck"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  fuse_args args = {.argc = static_cast<int>(arguments.size()), .argv = arguments.data()};
  fuse* const files =
      fuse_new(&args, &kOperations, sizeof(kOperations), const_cast<MountSettings*>(&settings));
  fuse_opt_free_args(&args);
  if (files == nullptr) return absl::UnavailableError("fuse_new: the FUSE library does not start");
  if (fuse_mount(files, settings.directory.c_str()) != 0) {
    fuse_destroy(files);
    return absl::UnavailableError(absl::StrCat(
        "mount ", settings.directory,
        ": the kernel refuses; give it /dev/fuse and, without root, fusermount3 (package fuse3)"));
  }
  const absl::Status status = ServeUntilEnd(files, settings);
  fuse_unmount(files);
  fuse_destroy(files);
  return status;
}

}  // namespace tapedeck::services::mount
