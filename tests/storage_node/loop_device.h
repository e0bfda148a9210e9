// A real block device for tests: a loop device over a file, where the machine lets us have one.
#pragma once

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <string>

#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node {

// Gone with the object.
class LoopDevice {
 public:
  explicit LoopDevice(const std::string& image) {
    const disk::Fd control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    const disk::Fd file(open(image.c_str(), O_RDWR | O_CLOEXEC));
    // Somebody else may be quicker to take the free one.
    for (int attempt = 0; attempt < 20 && control.get() >= 0; ++attempt) {
      const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
      if (number < 0) return;
      const std::string path = "/dev/loop" + std::to_string(number);
      disk::Fd device(open(path.c_str(), O_RDWR | O_CLOEXEC));
      if (device.get() < 0) return;
      loop_config config = {};
      config.fd = static_cast<__u32>(file.get());
      config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
      if (ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) {
        path_ = path;
        device_ = std::move(device);
        return;
      }
      if (errno != EBUSY) return;
    }
  }

  // Empty: there is none to be had.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  disk::Fd device_;  // the last one to close it takes it down
};

}  // namespace tapedeck::storage_node
