// libtapedeck.so is made of the rooms alone; a shared library needs a file of its own.
