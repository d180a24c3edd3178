//! Programs as users have them: CUDA C++ and Python in `programs/`, which nothing here was written for. The tests build
//! them with NVIDIA's compiler, link them with either runtime, and run them under injection.
