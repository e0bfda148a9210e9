// A time in which the kernel makes no thread for this process.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace tapedeck {

// As somebody who may have no more processes; root may have as many as it likes, so it is somebody
// else meanwhile. Of the whole process.
class NoThreads {
 public:
  NoThreads() : root_(geteuid() == 0) {
    getrlimit(RLIMIT_NPROC, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NPROC, &none);
    constexpr uid_t kNobody = 65534;
    if (root_) works_ = setresuid(kNobody, kNobody, 0) == 0;
  }
  ~NoThreads() {
    if (root_ && works_) works_ = setresuid(0, 0, 0) == 0;
    setrlimit(RLIMIT_NPROC, &before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

  bool works() const { return works_; }

 private:
  const bool root_;
  bool works_ = true;
  rlimit before_ = {};
};

}  // namespace tapedeck
