// What the HDF5 library gives out, until it is closed. Of this room alone.
#pragma once

#include <hdf5.h>

#include <utility>

namespace tapedeck::services::formats {

class Handle {
 public:
  using CloseFunction = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, CloseFunction close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { Close(); }

  hid_t get() const { return id_; }
  bool good() const { return id_ >= 0; }
  // False: what was written may not be there.
  bool Close() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  CloseFunction close_ = nullptr;
};

}  // namespace tapedeck::services::formats
