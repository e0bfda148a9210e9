// Loaded into a program (LD_PRELOAD), makes some of its calls slow while it runs, as the file that
// SLOW_CALLS names says: "write=20 read=20", in 10^6 bytes a second, "flush=100 fft=3",
// in milliseconds, or "crc=1"; 0 or nothing: as they are. All writes and all reads wait for one
// disk.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace {

// What is smaller is no payload.
constexpr size_t kLeastBytes = 32 << 10;

// The number after `key`.
double Setting(std::string_view key) {
  const char* path = std::getenv("SLOW_CALLS");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::array<char, 256> text{};
  const ssize_t n = read(fd, text.data(), text.size() - 1);
  close(fd);
  const std::string_view all(text.data(), n > 0 ? static_cast<size_t>(n) : 0);
  const size_t at = all.find(std::string(key) + "=");
  return at == std::string_view::npos ? 0 : std::atof(text.data() + at + key.size() + 1);
}

void WaitForDisk(std::string_view key, size_t bytes) {
  if (bytes < kLeastBytes) return;
  const double mb_per_s = Setting(key);
  if (mb_per_s <= 0) return;
  static std::mutex disk;
  const std::lock_guard lock(disk);
  usleep(static_cast<useconds_t>(static_cast<double>(bytes) / mb_per_s));
}

int Flush(int fd, long number) {
  const double ms = Setting("flush");
  if (ms > 0) usleep(static_cast<useconds_t>(ms * 1000));
  return static_cast<int>(syscall(number, fd));
}

// Of the polynomial of CRC32C, a byte at a time, as fast as a processor without an instruction is.
uint32_t SlowCrc(const unsigned char* bytes, int count, uint32_t crc) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t i = 0; i < made.size(); ++i) {
      made[i] = i;
      for (int bit = 0; bit < 8; ++bit) made[i] = (made[i] >> 1) ^ (made[i] & 1 ? 0x82F63B78 : 0);
    }
    return made;
  }();
  for (int i = 0; i < count; ++i) crc = table[(crc ^ bytes[i]) & 0xFF] ^ (crc >> 8);
  return crc;
}

}  // namespace

extern "C" {

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  WaitForDisk("write", count);
  return syscall(SYS_pwrite64, fd, bytes, count, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
  return pwrite(fd, bytes, count, offset);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  WaitForDisk("read", count);
  return syscall(SYS_pread64, fd, bytes, count, offset);
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t offset) {
  return pread(fd, bytes, count, offset);
}
int fsync(int fd) { return Flush(fd, SYS_fsync); }
int fdatasync(int fd) { return Flush(fd, SYS_fdatasync); }

// libisal's.
// NOLINTNEXTLINE: its name
unsigned int crc32_iscsi(unsigned char* bytes, int count, unsigned int crc) {
  if (Setting("crc") > 0) return SlowCrc(bytes, count, crc);
  using Crc = unsigned int (*)(unsigned char*, int, unsigned int);
  static const auto quick = reinterpret_cast<Crc>(dlsym(RTLD_NEXT, "crc32_iscsi"));
  return quick(bytes, count, crc);
}

// libfftw3f's.
// NOLINTNEXTLINE: its name
void fftwf_execute_dft(const void* plan, void* in, void* out) {
  using Execute = void (*)(const void*, void*, void*);
  static const auto quick = reinterpret_cast<Execute>(dlsym(RTLD_NEXT, "fftwf_execute_dft"));
  quick(plan, in, out);
  usleep(static_cast<useconds_t>(Setting("fft") * 1000));
}

}  // extern "C"
