"""All that touches Numba or LLVM: compiling, arguments bound by address, vector lanes."""
