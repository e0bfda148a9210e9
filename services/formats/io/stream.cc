#include "services/formats/io/stream.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/files/errors.h"

namespace tapedeck::services::formats {
namespace {

constexpr char kReaderGoneUrl[] = "tapedeck.v1/ReaderGone";
constexpr int kStepMs = 100;
constexpr size_t kMostOfFile = 1 << 20;

bool IsFifo(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
}

// The standard one, under another number, or the FIFO, for which nobody waits here.
dataplane::Fd OpenIt(const std::string& path, int standard, int flags) {
  if (path == kStandard) return dataplane::Fd(fcntl(standard, F_DUPFD_CLOEXEC, 0));
  return dataplane::Fd(open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC));
}

// Whether it can be read or written at once, or has ended.
bool IsReady(int fd, short events) {
  pollfd one{.fd = fd, .events = events, .revents = 0};
  return poll(&one, 1, kStepMs) > 0;
}

// What one write(2) takes of a pipe that is ready without waiting, whoever else has it and however
// it was opened: see pipe(7).
size_t MostOf(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? kMostOfFile : PIPE_BUF;
}

}  // namespace

bool IsStream(const std::string& path) { return path == kStandard || IsFifo(path); }

bool ReaderHasGone(const absl::Status& status) {
  return status.GetPayload(kReaderGoneUrl).has_value();
}

absl::StatusOr<std::unique_ptr<InputStream>> InputStream::Open(const std::string& path) {
  dataplane::Fd fd = OpenIt(path, STDIN_FILENO, O_RDONLY);
  if (fd.get() < 0) return files::NotFound(path, "open", errno);
  if (isatty(fd.get()) == 1) {
    return files::Invalid(path, "standard input is a terminal: pipe samples in, or name a file");
  }
  return std::unique_ptr<InputStream>(new InputStream(path, std::move(fd)));
}

absl::StatusOr<size_t> InputStream::ReadSome(std::span<std::byte> into, const GoOn& go_on) {
  while (!ended_ && go_on()) {
    if (!IsReady(fd_.get(), POLLIN)) continue;
    const ssize_t got = read(fd_.get(), into.data(), into.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return files::Invalid(path_, absl::StrCat("read: ", std::strerror(errno)));
    ended_ = got == 0;
    bytes_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }
  return 0;
}

absl::Status InputStream::Await(const GoOn& go_on) {
  std::byte first = {};
  TD_ASSIGN_OR_RETURN(const size_t got, ReadSome(std::span(&first, 1), go_on));
  if (got > 0) {
    first_ = first;
    return absl::OkStatus();
  }
  return ended_ ? files::Invalid(path_, "it ended without any sample") : JobCancelled();
}

absl::StatusOr<uint64_t> InputStream::Read(std::span<std::byte> into, const GoOn& go_on) {
  size_t filled = 0;
  if (first_.has_value() && !into.empty()) {
    into[filled++] = *std::exchange(first_, std::nullopt);
  }
  while (filled < into.size()) {
    TD_ASSIGN_OR_RETURN(const size_t got, ReadSome(into.subspan(filled), go_on));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

absl::StatusOr<std::unique_ptr<OutputStream>> OutputStream::Open(const std::string& path,
                                                                 GoOn go_on) {
  signal(SIGPIPE, SIG_IGN);
  dataplane::Fd fd = OpenIt(path, STDOUT_FILENO, O_WRONLY);
  while (fd.get() < 0 && errno == ENXIO) {  // nobody reads the FIFO yet
    if (!go_on()) return JobCancelled();
    absl::SleepFor(absl::Milliseconds(kStepMs));
    fd = OpenIt(path, STDOUT_FILENO, O_WRONLY);
  }
  if (fd.get() < 0) return files::NotFound(path, "open for writing", errno);
  if (isatty(fd.get()) == 1) {
    return ArgumentInvalid(
        "to",
        "standard output is a terminal, which cannot show samples: pipe them into a program, "
        "or name a file");
  }
  const size_t most = MostOf(fd.get());
  return std::unique_ptr<OutputStream>(
      new OutputStream(path, std::move(fd), most, std::move(go_on)));
}

absl::Status OutputStream::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (!go_on_()) return JobCancelled();
    if (!IsReady(fd_.get(), POLLOUT)) continue;
    const ssize_t put = write(fd_.get(), bytes.data(), std::min(bytes.size(), most_));
    if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (put < 0) {
      const int error = errno;
      absl::Status failed = files::WriteFailed(path_, "write", error);
      if (error == EPIPE) failed.SetPayload(kReaderGoneUrl, absl::Cord());
      return failed;
    }
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::formats
