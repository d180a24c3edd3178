"""What Triton's tutorials teach, without torch: each kernel against numpy. `kernels.py [NAME…]` runs some of them."""

import sys

import numpy as np
import triton
import triton.language as tl

from device_array import DeviceArray

RANDOM = np.random.default_rng(7)
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def close(found, wanted, tolerance=1e-3):
    error = np.abs(np.asarray(found, np.float64) - wanted).max()
    assert error <= tolerance, f"off by {error}"


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@program
def add():
    x, y = floats(1000), floats(1000)
    out = DeviceArray(np.zeros_like(x))
    add_kernel[(triton.cdiv(1000, 256),)](DeviceArray(x), DeviceArray(y), out, 1000, BLOCK=256)
    assert (out.numpy() == x + y).all()


@triton.jit
def softmax_kernel(x, out, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
        e = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@program
def softmax():
    x = floats(13, 100)
    out = DeviceArray(np.zeros_like(x))
    softmax_kernel[(4,)](DeviceArray(x), out, 13, 100, BLOCK=128, STAGES=2, num_warps=8)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    close(out.numpy(), e / e.sum(axis=1, keepdims=True), 1e-5)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (at + k)[None, :], mask=(at + k)[None, :] < K, other=0.0)
        right = tl.load(b + (at + k)[:, None] * N + n[None, :], mask=(at + k)[:, None] < K, other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + m[:, None] * N + n[None, :], total)


def multiply(a, b, tolerance, types=(None, None), precision="tf32", blocks=(64, 64, 32), **options):
    (M, K), N = a.shape, b.shape[1]
    c = DeviceArray(np.zeros((M, N), np.float32))
    grid = (M // blocks[0], N // blocks[1])
    arrays = [DeviceArray(values, kind) for values, kind in zip((a, b), types)]
    BM, BN, BK = blocks
    matmul_kernel[grid](*arrays, c, M, N, K, BM=BM, BN=BN, BK=BK, PRECISION=precision, **options)
    close(c.numpy(), a.astype(np.float64) @ b.astype(np.float64), tolerance)


@program
def matmul():
    a, b = floats(128, 80), floats(80, 128)
    multiply(a.astype(np.float16), b.astype(np.float16), 1e-2, num_stages=3)
    multiply(a, b, 1e-4, precision="ieee", num_warps=8)
    multiply(a, b, 1e-1)
    multiply(a, b, 1e-3, precision="tf32x3")


@triton.jit
def layer_norm_kernel(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    values = tl.load(x + row * columns + i, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    normal = centred * scale * tl.load(weight + i, mask=inside) + tl.load(bias + i, mask=inside)
    tl.store(out + row * columns + i, normal, mask=inside)


@triton.jit
def weight_gradient_kernel(dy, normal, out, locks, counts, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of a group add up in turn, under a lock."""
    row = tl.program_id(0)
    group = row % GROUPS
    i = tl.arange(0, BLOCK)
    inside = i < columns
    part = tl.load(dy + row * columns + i, mask=inside, other=0.0) * tl.load(normal + row * columns + i, mask=inside, other=0.0)
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    if tl.load(counts + group) == 0:
        tl.store(counts + group, 1)
    else:
        part += tl.load(out + group * columns + i, mask=inside)
    tl.store(out + group * columns + i, part, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@program
def layer_norm():
    x, weight, bias, dy = floats(12, 100), floats(100), floats(100), floats(12, 100)
    out = DeviceArray(np.zeros_like(x))
    arrays = (DeviceArray(x), DeviceArray(weight), DeviceArray(bias))
    layer_norm_kernel[(12,)](*arrays, out, 100, 1e-5, BLOCK=128)
    normal = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    close(out.numpy(), normal * weight + bias, 1e-4)
    sums = DeviceArray(np.zeros((3, 100), np.float32))
    locks, counts = DeviceArray(np.zeros(3, np.int32)), DeviceArray(np.zeros(3, np.int32))
    normals = DeviceArray(normal.astype(np.float32))
    weight_gradient_kernel[(12,)](DeviceArray(dy), normals, sums, locks, counts, 100, GROUPS=3, BLOCK=128)
    close(sums.numpy().sum(axis=0), (dy * normal).sum(axis=0), 1e-3)


@triton.jit
def attention_kernel(q, k, v, out, length, scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    head = tl.program_id(1) * length * D
    queries = tl.load(q + head + m[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    weights = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else length
    for start in range(0, end, BN):
        n = start + tl.arange(0, BN)
        scores = tl.dot(queries, tl.load(k + head + n[None, :] * D + d[:, None])) * scale
        if CAUSAL:
            scores = tl.where(m[:, None] >= n[None, :], scores, -1e6)
        new = tl.maximum(most, tl.max(scores, 1))
        p = tl.math.exp2(scores - new[:, None])
        rescale = tl.math.exp2(most - new)
        weights = weights * rescale + tl.sum(p, 1)
        values = tl.load(v + head + n[:, None] * D + d[None, :])
        total = tl.dot(p.to(tl.float16), values, total * rescale[:, None])
        most = new
    tl.store(out + head + m[:, None] * D + d[None, :], total / weights[:, None])


@program
def attention():
    q, k, v = (floats(2, 64, 32).astype(np.float16) for _ in range(3))
    arrays = [DeviceArray(values) for values in (q, k, v)]
    for causal in (False, True):
        out = DeviceArray(np.zeros((2, 64, 32), np.float32))
        attention_kernel[(2, 2)](*arrays, out, 64, 1.44269504 / 32**0.5, CAUSAL=causal, BM=32, BN=32, D=32, num_stages=2)
        scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 32**0.5
        if causal:
            scores = np.where(np.tri(64, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(axis=2, keepdims=True))
        close(out.numpy(), p / p.sum(axis=2, keepdims=True) @ v.astype(np.float64), 1e-2)


@triton.jit
def grouped_gemm_kernel(a, b, c, sizes, GROUPS: tl.constexpr, B: tl.constexpr):
    """Every program takes each so many tiles of all groups; matrices are found by their addresses."""
    tile = tl.program_id(0)
    first = 0
    for group in range(GROUPS):
        M = tl.load(sizes + group * 3)
        N = tl.load(sizes + group * 3 + 1)
        K = tl.load(sizes + group * 3 + 2)
        tiles = (M // B) * (N // B)
        left = tl.load(a + group).to(tl.pointer_type(tl.float16))
        right = tl.load(b + group).to(tl.pointer_type(tl.float16))
        out = tl.load(c + group).to(tl.pointer_type(tl.float32))
        while tile >= first and tile < first + tiles:
            m = (tile - first) // (N // B) * B + tl.arange(0, B)
            n = (tile - first) % (N // B) * B + tl.arange(0, B)
            total = tl.zeros((B, B), tl.float32)
            for at in range(0, K, B):
                k = at + tl.arange(0, B)
                total += tl.dot(tl.load(left + m[:, None] * K + k[None, :]), tl.load(right + k[:, None] * N + n[None, :]))
            tl.store(out + m[:, None] * N + n[None, :], total)
            tile += tl.num_programs(0)
        first += tiles


@program
def grouped_gemm():
    sizes = [(64, 32, 64), (32, 96, 32), (32, 32, 96)]
    lefts = [floats(M, K).astype(np.float16) for M, N, K in sizes]
    rights = [floats(K, N).astype(np.float16) for M, N, K in sizes]
    outs = [DeviceArray(np.zeros((M, N), np.float32)) for M, N, K in sizes]
    held = [[DeviceArray(values) for values in group] for group in (lefts, rights)] + [outs]
    places = [DeviceArray(np.array([array.data_ptr() for array in group], np.int64)) for group in held]
    grouped_gemm_kernel[(4,)](*places, DeviceArray(np.array(sizes, np.int32)), GROUPS=3, B=32)
    for left, right, out in zip(lefts, rights, outs):
        close(out.numpy(), left.astype(np.float64) @ right.astype(np.float64), 2e-2)


@triton.jit
def atomics_kernel(out, sums, halves):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.atomic_add(out + i % 3, 1, sem="relaxed")
    tl.atomic_max(out + 3, tl.max(i, 0))
    tl.atomic_min(out + 4 + 0 * i, i)
    tl.atomic_or(out + 5 + 0 * i, 1 << (i % 31), scope="sys")
    tl.atomic_and(out + 6 + 0 * i, ~(1 << (i % 5)))
    tl.atomic_xor(out + 7 + 0 * i, i, sem="release", scope="cta")
    tl.atomic_add(sums, tl.sum(i.to(tl.float32), 0))
    tl.atomic_max(sums + 1 + 0 * i, i.to(tl.float32) - 7.5)
    tl.atomic_add(halves + i % 2, 0.25)


@program
def atomics():
    out = DeviceArray(np.array([0, 0, 0, 0, 1000, 0, 1023, 0], np.int32))
    sums, halves = DeviceArray(np.zeros(2, np.float32)), DeviceArray(np.zeros(2, np.float16))
    atomics_kernel[(4,)](out, sums, halves)
    xor = int(np.bitwise_xor.reduce(np.arange(256)))
    assert out.numpy().tolist() == [86, 85, 85, 255, 0, 2**31 - 1, 992, xor], out.numpy()
    assert sums.numpy().tolist() == [32640, 247.5], sums.numpy()
    assert halves.numpy().tolist() == [32, 32], halves.numpy()


@triton.jit
def inline_kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i)
    bits = tl.inline_asm_elementwise("popc.b32 $0, $1;", "=r,r", [values], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + i, bits)


@program
def inline_ptx():
    x = RANDOM.integers(0, 2**31, 128, dtype=np.int32)
    out = DeviceArray(np.zeros_like(x))
    inline_kernel[(1,)](DeviceArray(x), out, BLOCK=128)
    assert out.numpy().tolist() == [int(value).bit_count() for value in x]


def always_first(call, quantiles):
    """No clock: what is chosen must not differ between trials."""
    call()
    return [1.0] * len(quantiles)


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128}, num_warps=4)], key=["n"], do_bench=always_first)
@triton.jit
def tuned_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@program
def autotuning():
    x = floats(300)
    out = DeviceArray(np.zeros_like(x))
    tuned_kernel[lambda meta: (triton.cdiv(300, meta["BLOCK"]),)](DeviceArray(x), out, 300)
    assert (out.numpy() == 2 * x).all()


@triton.jit
def orders_kernel(x, scanned, ordered, counts, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i)
    tl.store(scanned + i, tl.cumsum(values, 0))
    tl.store(ordered + i, tl.sort(values))
    tl.store(counts + tl.arange(0, 16), tl.histogram(values & 15, 16))


@program
def orders():
    x = RANDOM.integers(0, 1000, 256, dtype=np.int32)
    scanned, ordered, counts = (DeviceArray(np.zeros(size, np.int32)) for size in (256, 256, 16))
    orders_kernel[(1,)](DeviceArray(x), scanned, ordered, counts, BLOCK=256)
    assert (scanned.numpy() == np.cumsum(x)).all() and (ordered.numpy() == np.sort(x)).all()
    assert (counts.numpy() == np.bincount(x & 15, minlength=16)).all()


@triton.jit
def mathematics_kernel(x, out, random, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i)
    result = tl.sin(values) + tl.cos(values) * tl.exp(-values) + tl.log(values + 1) + tl.rsqrt(values + 1) + tl.math.erf(values)
    tl.store(out + i, tl.fma(values, values, result) + tl.floor(values))
    tl.store(random + i, tl.rand(seed, i))


@program
def mathematics():
    from math import erf
    x = np.abs(floats(128))
    out, random = DeviceArray(np.zeros_like(x)), DeviceArray(np.zeros_like(x))
    mathematics_kernel[(1,)](DeviceArray(x), out, random, 42, BLOCK=128)
    wide = x.astype(np.float64)
    wanted = np.sin(wide) + np.cos(wide) * np.exp(-wide) + np.log(wide + 1) + 1 / np.sqrt(wide + 1) + [erf(v) for v in wide]
    close(out.numpy(), wanted + wide * wide + np.floor(wide), 1e-4)
    drawn = random.numpy()
    assert 0 <= drawn.min() and drawn.max() < 1 and len(set(drawn)) > 100 and 0.4 < drawn.mean() < 0.6


if __name__ == "__main__":
    for name in sys.argv[1:] or PROGRAMS:
        PROGRAMS[name]()
        print(name)
