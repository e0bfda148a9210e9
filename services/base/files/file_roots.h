// Where the files lie that jobs may name: beneath the directories that their worker was given for
// that with --file-root. The one door for such files. A path is resolved by openat2(2), so that no
// link and no ".." leads out, whatever is changed meanwhile; the directory itself is opened by its
// own path each time, so that it may be mounted late.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/fd.h"
#include "services/base/files/input_file.h"
#include "services/base/files/part_file.h"

namespace tapedeck::services::files {

// A value: any thread that may wait for a disk.
class FileRoots {
 public:
  // No file may be named.
  FileRoots() = default;
  // Any may: of a worker that nobody but its own machine's users can ask.
  static FileRoots Anywhere();
  // Of read:DIR and write:DIR. INVALID_ARGUMENT. Looks at nothing.
  static absl::StatusOr<FileRoots> Parse(const std::vector<std::string>& texts);
  // One of them.
  static absl::Status CheckText(const std::string& text);

  // FAILED_PRECONDITION where directories were given and there is no openat2(2).
  absl::Status CheckKernel() const;

  // PERMISSION_DENIED (FILE_OUTSIDE_ROOTS), and the errors of input_file.h.
  absl::StatusOr<InputFile> OpenInput(const std::string& path) const;
  // The same with those of PartFile::Create.
  absl::StatusOr<std::unique_ptr<PartFile>> CreatePart(const std::string& target,
                                                       bool replace) const;

  // "any", "none", or the directories, for the log.
  std::string Described() const;
  bool anywhere() const { return anywhere_; }

 private:
  struct Way {
    const char* word;  // before the colon of the option
    const char* verb;
    std::vector<std::string> directories;
  };

  // Opens `path`, which stands for the file `named` in a refusal.
  absl::StatusOr<dataplane::Fd> Open(const Way& way, const std::string& path, int flags,
                                     const std::string& named) const;

  bool anywhere_ = false;
  Way read_{.word = "read", .verb = "read from", .directories = {}};
  Way write_{.word = "write", .verb = "write to", .directories = {}};
};

// Whether a directory that an option names can be used; changes nothing. May wait for a disk.

// One that the program makes where it is missing, and writes into: it can, or could make it.
// FAILED_PRECONDITION says what is in the way.
absl::Status CheckStateDirectory(const std::string& path);

// Where it lies, or will lie once it is made.
std::string StateDirectoryOrParent(const std::string& path);

// One beneath which others have put files: it is there and may be entered. FAILED_PRECONDITION,
// which begins with the option; INVALID_ARGUMENT if it can never hold a file, as of /proc.
absl::Status CheckRootDirectory(const std::string& option, const std::string& path);

// openat2(2) as it never leaves a directory: as openat(2) with O_CLOEXEC, but for links, which are
// not followed, and ways out of `directory`, which are not taken, whatever is changed meanwhile. A
// descriptor, or one below 0 and errno: ELOOP (a link lies on the way), EXDEV (the path leads out),
// ENOSYS or EPERM (a kernel before 5.6, or a container that forbids the call), EAGAIN (the path
// changes all the time, or somebody has a lease on the file). Any thread that may wait for a disk.
dataplane::Fd OpenBeneath(int directory, const std::string& path, int flags, mode_t mode = 0);

}  // namespace tapedeck::services::files
