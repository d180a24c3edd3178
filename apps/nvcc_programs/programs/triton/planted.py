"""Bugs of synchronisation as they happen in Triton, each beside its repair: `planted.py NAME`.

lock            split-k: every program adds its part of a tile to the sum under a lock
lock_relaxed    the lock is taken and given back with sem="relaxed"
barrier         a value goes from one warp to another by global memory, and the block's barrier lies between
barrier_missing it does not
flag            the last program to count itself adds up what all have written
flag_relaxed    the count is relaxed
"""

import sys

import numpy as np
import triton
import triton.language as tl

from device_array import DeviceArray


@triton.jit
def split_k_kernel(a, b, c, lock, K, SEM: tl.constexpr, RELEASE: tl.constexpr, B: tl.constexpr):
    i, k = tl.arange(0, B), tl.program_id(0) * B + tl.arange(0, B)
    part = tl.dot(tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * B + i[None, :]))
    place = c + i[:, None] * B + i[None, :]
    while tl.atomic_cas(lock, 0, 1, sem=SEM) == 1:
        pass
    tl.store(place, tl.load(place) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem=RELEASE)


def split_k(acquire, release):
    values = np.random.default_rng(3)
    a, b = (values.standard_normal(shape).astype(np.float16) for shape in ((16, 64), (64, 16)))
    c = DeviceArray(np.zeros((16, 16), np.float32))
    lock = DeviceArray(np.zeros(1, np.int32))
    split_k_kernel[(4,)](DeviceArray(a), DeviceArray(b), c, lock, 64, SEM=acquire, RELEASE=release, B=16, num_warps=1)
    return np.abs(c.numpy() - a.astype(np.float64) @ b.astype(np.float64)).max() < 1e-2


@triton.jit
def reverse_kernel(x, between, out, BARRIER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(between + i, tl.load(x + i) + 1)
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + i, tl.load(between + BLOCK - 1 - i))


def reverse(barrier):
    x = np.arange(128, dtype=np.int32)
    between, out = DeviceArray(np.zeros_like(x)), DeviceArray(np.zeros_like(x))
    reverse_kernel[(1,)](DeviceArray(x), between, out, BARRIER=barrier, BLOCK=128, num_warps=4)
    return (out.numpy() == x[::-1] + 1).all()


@triton.jit
def last_kernel(x, parts, count, out, SEM: tl.constexpr, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts + tl.program_id(0), tl.sum(tl.load(x + i), 0))
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem=SEM) == PARTS - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, PARTS)), 0))


def last(sem):
    x = np.arange(256, dtype=np.int32)
    parts, count, out = (DeviceArray(np.zeros(size, np.int32)) for size in (4, 1, 1))
    last_kernel[(4,)](DeviceArray(x), parts, count, out, SEM=sem, BLOCK=64, PARTS=4, num_warps=1)
    return out.numpy()[0] == x.sum()


PROGRAMS = {
    "lock": lambda: split_k("acq_rel", "acq_rel"),
    "lock_relaxed": lambda: split_k("relaxed", "relaxed"),
    "barrier": lambda: reverse(True),
    "barrier_missing": lambda: reverse(False),
    "flag": lambda: last("acq_rel"),
    "flag_relaxed": lambda: last("relaxed"),
}

if __name__ == "__main__":
    sys.exit(0 if PROGRAMS[sys.argv[1]]() else 1)
