//! Functions of matrices, of all types, with random sizes, operations, halves and gaps, against plain loops.

#![allow(clippy::macro_metavars_in_unsafe, reason = "the tests pass plain values")]

#[macro_use]
mod support;

use std::ffi::{c_int, c_void};

use num_complex::Complex;
use support::{C, Full, Number, Random, download, handle, holds, lies, upload};

type Handle = *mut c_void;

/// A random matrix in a buffer with gaps, and its leading dimension.
struct Buffer<T> {
    rows: usize,
    columns: usize,
    leading: usize,
    values: Vec<T>,
    address: u64,
}

impl<T: Number> Buffer<T> {
    fn new(random: &mut Random, rows: usize, columns: usize) -> Self {
        let leading = rows + 1 + random.below(3);
        let values = random.values(leading * columns);
        let address = upload(&values);
        Buffer { rows, columns, leading, values, address }
    }

    /// One that can be divided by.
    fn dominant(random: &mut Random, size: usize) -> Self {
        let mut buffer = Buffer::<T>::new(random, size, size);
        for place in 0..size {
            let value = &mut buffer.values[place * buffer.leading + place];
            *value = T::of(value.full() + C::new(3.0 + size as f64, 0.0));
        }
        buffer.address = upload(&buffer.values);
        buffer
    }

    fn full(&self) -> Full {
        Full::read(&self.values, self.rows, self.columns, self.leading)
    }

    fn step(&self) -> c_int {
        self.leading as c_int
    }

    fn is(&self, what: &str, want: &Full, terms: usize, covers: impl Fn(usize, usize) -> bool) {
        let after = download::<T>(self.address, self.values.len());
        holds(what, (&self.values, &after), self.leading, want, terms, covers);
    }
}

fn everywhere(_: usize, _: usize) -> bool {
    true
}

fn name<T: Number>(rest: &str) -> String {
    format!("cublas{}{rest}", T::LETTER)
}

/// Numbers of rows, columns and steps.
fn sizes(random: &mut Random) -> [usize; 3] {
    [1 + random.below(24), 1 + random.below(24), 1 + random.below(24)]
}

fn scalars<T: Number>(random: &mut Random) -> [T; 2] {
    let values = random.values(2);
    // Now and then those that are looked at specially.
    let beta = if random.below(4) == 0 { T::of(C::new(0.0, 0.0)) } else { values[1] };
    [values[0], beta]
}

fn gemm<T: Number>(handle: Handle, random: &mut Random) {
    let [m, n, k] = sizes(random);
    let ops = [random.below(3) as c_int, random.below(3) as c_int];
    let shape = |op: c_int, rows, columns| if op == 0 { (rows, columns) } else { (columns, rows) };
    let ((a_rows, a_columns), (b_rows, b_columns)) = (shape(ops[0], m, k), shape(ops[1], k, n));
    let a = Buffer::<T>::new(random, a_rows, a_columns);
    let b = Buffer::<T>::new(random, b_rows, b_columns);
    let c = Buffer::<T>::new(random, m, n);
    let [alpha, beta] = scalars::<T>(random);
    let status = call!(
        &name::<T>("gemm_v2"), handle => Handle, ops[0] => c_int, ops[1] => c_int, m as c_int => c_int,
        n as c_int => c_int, k as c_int => c_int, &raw const alpha => *const T, a.address => u64, a.step() => c_int,
        b.address => u64, b.step() => c_int, &raw const beta => *const T, c.address => u64, c.step() => c_int
    );
    assert_eq!(status, 0);
    let want = a.full().op(ops[0]).times(&b.full().op(ops[1])).plus(alpha.full(), &c.full(), beta.full());
    c.is(&format!("{} {ops:?}", name::<T>("gemm")), &want, k, everywhere);
}

fn symmetric<T: Number>(handle: Handle, random: &mut Random, hermitian: bool) {
    let [m, n, _] = sizes(random);
    let [side, fill] = [random.below(2) as c_int, random.below(2) as c_int];
    let size = if side == 0 { m } else { n };
    let a = Buffer::<T>::new(random, size, size);
    let (b, c) = (Buffer::<T>::new(random, m, n), Buffer::<T>::new(random, m, n));
    let [alpha, beta] = scalars::<T>(random);
    let name = name::<T>(if hermitian { "hemm_v2" } else { "symm_v2" });
    let status = call!(
        &name, handle => Handle, side => c_int, fill => c_int, m as c_int => c_int, n as c_int => c_int,
        &raw const alpha => *const T, a.address => u64, a.step() => c_int, b.address => u64, b.step() => c_int,
        &raw const beta => *const T, c.address => u64, c.step() => c_int
    );
    assert_eq!(status, 0);
    let full = a.full().mirrored(fill, hermitian);
    let product = if side == 0 { full.times(&b.full()) } else { b.full().times(&full) };
    c.is(&name, &product.plus(alpha.full(), &c.full(), beta.full()), size, everywhere);
}

fn triangular<T: Number>(handle: Handle, random: &mut Random) {
    let [m, n, _] = sizes(random);
    let (side, fill) = (random.below(2) as c_int, random.below(2) as c_int);
    let (op, ones) = (random.below(3) as c_int, random.below(2) as c_int);
    let size = if side == 0 { m } else { n };
    // With ones on the diagonal, a solution grows as fast as the matrix lets it.
    let a = if ones == 1 {
        let mut a = Buffer::<T>::new(random, size, size);
        a.values.iter_mut().for_each(|value| *value = T::of(value.full() / (2.0 * size as f64)));
        a.address = upload(&a.values);
        a
    } else {
        Buffer::<T>::dominant(random, size)
    };
    let (b, c) = (Buffer::<T>::new(random, m, n), Buffer::<T>::new(random, m, n));
    let [alpha, _] = scalars::<T>(random);
    let status = call!(
        &name::<T>("trmm_v2"), handle => Handle, side => c_int, fill => c_int, op => c_int, ones => c_int,
        m as c_int => c_int, n as c_int => c_int, &raw const alpha => *const T, a.address => u64, a.step() => c_int,
        b.address => u64, b.step() => c_int, c.address => u64, c.step() => c_int
    );
    assert_eq!(status, 0);
    let taken = a.full().half(fill, ones == 1).op(op);
    let times = |other: &Full| if side == 0 { taken.times(other) } else { other.times(&taken) };
    let zero = C::new(0.0, 0.0);
    let how = format!("side {side}, fill {fill}, op {op}, ones {ones}");
    c.is(
        &format!("{}: {how}", name::<T>("trmm")),
        &times(&b.full()).plus(alpha.full(), &b.full(), zero),
        3 * size,
        everywhere,
    );
    let status = call!(
        &name::<T>("trsm_v2"), handle => Handle, side => c_int, fill => c_int, op => c_int, ones => c_int,
        m as c_int => c_int, n as c_int => c_int, &raw const alpha => *const T, a.address => u64, a.step() => c_int,
        b.address => u64, b.step() => c_int
    );
    assert_eq!(status, 0);
    let solved = download::<T>(b.address, b.values.len());
    let back = times(&Full::read(&solved, m, n, b.leading));
    for column in 0..n {
        for row in 0..m {
            let (got, want) = (back.at(row, column), alpha.full() * b.full().at(row, column));
            let allowed = T::EPSILON * 40.0 * size as f64;
            assert!((got - want).norm() <= allowed, "{} {how}: {got} and not {want}", name::<T>("trsm"));
        }
    }
}

/// The four that add to one half.
fn updates<T: Number>(handle: Handle, random: &mut Random, hermitian: bool, two: bool) {
    let [n, k, _] = sizes(random);
    let fill = random.below(2) as c_int;
    let turned = if hermitian { 2 } else { 1 };
    let op = if random.below(2) == 0 { 0 } else { turned };
    let (rows, columns) = if op == 0 { (n, k) } else { (k, n) };
    let (a, b) = (Buffer::<T>::new(random, rows, columns), Buffer::<T>::new(random, rows, columns));
    let c = Buffer::<T>::new(random, n, n);
    let [alpha, beta] = scalars::<T>(random);
    let [real_alpha, real_beta] = [alpha, beta].map(|value| T::Real::of(value.full()));
    let beta_full = if hermitian { real_beta.full() } else { beta.full() };
    let beta_pointer =
        if hermitian { (&raw const real_beta).cast::<c_void>() } else { (&raw const beta).cast() };
    let alpha_pointer =
        if hermitian && !two { (&raw const real_alpha).cast::<c_void>() } else { (&raw const alpha).cast() };
    let (left, right) = (a.full().op(op), b.full().op(op));
    let zero = C::new(0.0, 0.0);
    let (name, product) = if two {
        let name = name::<T>(if hermitian { "her2k_v2" } else { "syr2k_v2" });
        let status = call!(
            &name, handle => Handle, fill => c_int, op => c_int, n as c_int => c_int, k as c_int => c_int,
            alpha_pointer => *const c_void, a.address => u64, a.step() => c_int, b.address => u64, b.step() => c_int,
            beta_pointer => *const c_void, c.address => u64, c.step() => c_int
        );
        assert_eq!(status, 0);
        let other = if hermitian { alpha.full().conj() } else { alpha.full() };
        (name, left.times(&right.op(turned)).plus(alpha.full(), &right.times(&left.op(turned)), other))
    } else {
        let name = name::<T>(if hermitian { "herk_v2" } else { "syrk_v2" });
        let status = call!(
            &name, handle => Handle, fill => c_int, op => c_int, n as c_int => c_int, k as c_int => c_int,
            alpha_pointer => *const c_void, a.address => u64, a.step() => c_int,
            beta_pointer => *const c_void, c.address => u64, c.step() => c_int
        );
        assert_eq!(status, 0);
        let alpha = if hermitian { real_alpha.full() } else { alpha.full() };
        let square = left.times(&left.op(turned));
        (name, square.plus(alpha, &square, zero))
    };
    let mut want = product.plus(C::new(1.0, 0.0), &c.full(), beta_full);
    if hermitian {
        want = want.mirrored(fill, true);
    }
    c.is(&format!("{name} fill {fill}, op {op}"), &want, 2 * k, |row, column| lies(fill, row, column));
}

fn sums<T: Number>(handle: Handle, random: &mut Random) {
    let [m, n, _] = sizes(random);
    let ops = [random.below(3) as c_int, random.below(3) as c_int];
    let shaped = |random: &mut Random, op| {
        let (rows, columns) = if op == 0 { (m, n) } else { (n, m) };
        Buffer::<T>::new(random, rows, columns)
    };
    let (a, b) = (shaped(random, ops[0]), shaped(random, ops[1]));
    let c = Buffer::<T>::new(random, m, n);
    let [alpha, beta] = scalars::<T>(random);
    let status = call!(
        &name::<T>("geam"), handle => Handle, ops[0] => c_int, ops[1] => c_int, m as c_int => c_int, n as c_int => c_int,
        &raw const alpha => *const T, a.address => u64, a.step() => c_int, &raw const beta => *const T,
        b.address => u64, b.step() => c_int, c.address => u64, c.step() => c_int
    );
    assert_eq!(status, 0);
    let want = a.full().op(ops[0]).plus(alpha.full(), &b.full().op(ops[1]), beta.full());
    c.is(&name::<T>("geam"), &want, 2, everywhere);
    let side = random.below(2) as c_int;
    let x: Vec<T> = random.values(if side == 0 { m } else { n });
    let (from, to) = (Buffer::<T>::new(random, m, n), Buffer::<T>::new(random, m, n));
    let status = call!(
        &name::<T>("dgmm"), handle => Handle, side => c_int, m as c_int => c_int, n as c_int => c_int,
        from.address => u64, from.step() => c_int, upload(&x) => u64, 1 => c_int, to.address => u64, to.step() => c_int
    );
    assert_eq!(status, 0);
    let full = from.full();
    let want =
        Full::by(m, n, |row, column| full.at(row, column) * x[if side == 0 { row } else { column }].full());
    to.is(&name::<T>("dgmm"), &want, 1, everywhere);
}

fn all<T: Number>() {
    let (handle, mut random) = (handle(), Random(17));
    for _ in 0..40 {
        gemm::<T>(handle, &mut random);
        symmetric::<T>(handle, &mut random, false);
        triangular::<T>(handle, &mut random);
        updates::<T>(handle, &mut random, false, false);
        updates::<T>(handle, &mut random, false, true);
        sums::<T>(handle, &mut random);
        if T::COMPLEX {
            symmetric::<T>(handle, &mut random, true);
            updates::<T>(handle, &mut random, true, false);
            updates::<T>(handle, &mut random, true, true);
        }
    }
    assert_eq!(call!("cublasDestroy_v2", handle => Handle), 0);
    assert_eq!(call!("cublasDestroy_v2", handle => Handle), 1, "it is gone");
}

#[test]
fn of_single_numbers() {
    all::<f32>();
}

#[test]
fn of_double_numbers() {
    all::<f64>();
}

#[test]
fn of_complex_numbers() {
    all::<Complex<f32>>();
}

#[test]
fn of_double_complex_numbers() {
    all::<C>();
}
