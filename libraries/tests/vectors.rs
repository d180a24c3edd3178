//! Levels 1 and 2, of all types, with random sizes and increments of both signs, against plain loops; both pointer modes.

#![allow(clippy::macro_metavars_in_unsafe, reason = "the tests pass plain values")]

#[macro_use]
mod support;

use std::ffi::{c_int, c_void};

use num_complex::Complex;
use support::{C, Full, Number, Random, download, handle, holds, lies, upload};

type Handle = *mut c_void;

/// A random vector in a buffer with gaps.
struct Strided<T> {
    step: c_int,
    n: usize,
    values: Vec<T>,
    address: u64,
}

impl<T: Number> Strided<T> {
    fn new(random: &mut Random, n: usize, signed: bool) -> Self {
        let step = 1 + random.below(3) as c_int;
        let step = if signed && random.below(2) == 0 { -step } else { step };
        let values = random.values(n * step.unsigned_abs() as usize + 1);
        let address = upload(&values);
        Strided { step, n, values, address }
    }

    /// Where a value stands in the buffer.
    fn place(&self, index: usize) -> usize {
        let index = if self.step < 0 { self.n - 1 - index } else { index };
        index * self.step.unsigned_abs() as usize
    }

    fn full(&self) -> Vec<C> {
        (0..self.n).map(|index| self.values[self.place(index)].full()).collect()
    }

    fn column(&self) -> Full {
        let full = self.full();
        Full::by(self.n, 1, |row, _| full[row])
    }

    fn is(&self, what: &str, want: &[C], terms: usize) {
        let after = download::<T>(self.address, self.values.len());
        let mut expected = self.values.clone();
        for (index, want) in want.iter().enumerate() {
            let place = self.place(index);
            let got = after[place].full();
            let allowed = T::EPSILON * (terms + 4) as f64 * (1.0 + want.norm());
            assert!((got - want).norm() <= allowed, "{what} at {index} of {}: {got} and not {want}", self.n);
            expected[place] = after[place];
        }
        assert_eq!(after, expected, "{what}: gaps are not to be touched");
    }
}

fn name<T: Number>(rest: &str) -> String {
    format!("cublas{}{rest}", T::LETTER)
}

fn close<T: Number>(what: &str, got: T, want: C, terms: usize) {
    let allowed = T::EPSILON * (terms + 4) as f64 * (1.0 + want.norm());
    assert!((got.full() - want).norm() <= allowed, "{what}: {got:?} and not {want}");
}

/// Sums, in both pointer modes.
fn sums<T: Number>(handle: Handle, random: &mut Random) {
    let n = random.below(200);
    let (x, y) = (Strided::<T>::new(random, n, true), Strided::<T>::new(random, n, true));
    let dots: &[(&str, bool)] =
        if T::COMPLEX { &[("dotu_v2", false), ("dotc_v2", true)] } else { &[("dot_v2", false)] };
    for (dot, conjugated) in dots {
        let products = x.full().into_iter().zip(y.full());
        let want: C = products.map(|(x, y)| if *conjugated { x.conj() * y } else { x * y }).sum();
        let mut got = T::default();
        let there = upload(&[T::default()]);
        for (mode, place) in [(0, &raw mut got as u64), (1, there)] {
            assert_eq!(call!("cublasSetPointerMode_v2", handle => Handle, mode => c_int), 0);
            let status = call!(
                &name::<T>(dot), handle => Handle, n as c_int => c_int, x.address => u64, x.step => c_int,
                y.address => u64, y.step => c_int, place => u64
            );
            assert_eq!(status, 0);
        }
        close(dot, got, want, n);
        assert_eq!(download::<T>(there, 1)[0], got);
        assert_eq!(call!("cublasSetPointerMode_v2", handle => Handle, 0 => c_int), 0);
    }
    let x = Strided::<T>::new(random, n, false);
    let full = x.full();
    let letters = match T::LETTER {
        "C" => "Sc",
        "Z" => "Dz",
        letter => letter,
    };
    let mut real = T::Real::default();
    let norm: f64 = full.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
    let sum: f64 = full.iter().map(|x| x.re.abs() + x.im.abs()).sum();
    for (function, want) in [("nrm2_v2", norm), ("asum_v2", sum)] {
        let function = format!("cublas{letters}{function}");
        let status = call!(
            &function, handle => Handle, n as c_int => c_int, x.address => u64, x.step => c_int,
            &raw mut real => *mut T::Real
        );
        assert_eq!(status, 0);
        close(&function, real, C::new(want, 0.0), n);
    }
    let sizes: Vec<f64> = full.iter().map(|x| x.re.abs() + x.im.abs()).collect();
    let first = |better: fn(f64, f64) -> bool| {
        let best = |best: usize, index: usize| if better(sizes[index], sizes[best]) { index } else { best };
        (1..n).fold(0, best) + usize::from(n > 0)
    };
    for (function, want) in [("amax_v2", first(|a, b| a > b)), ("amin_v2", first(|a, b| a < b))] {
        let function = format!("cublasI{}{function}", T::LETTER.to_lowercase());
        let mut place = -1;
        let status = call!(
            &function, handle => Handle, n as c_int => c_int, x.address => u64, x.step => c_int,
            &raw mut place => *mut c_int
        );
        assert_eq!((status, place), (0, want as c_int), "{function} of {n}");
    }
}

fn moves<T: Number>(handle: Handle, random: &mut Random) {
    let n = random.below(50);
    let alpha: T = random.values(1)[0];
    let [x, y] = [(); 2].map(|()| Strided::<T>::new(random, n, true));
    let status = call!(
        &name::<T>("axpy_v2"), handle => Handle, n as c_int => c_int, &raw const alpha => *const T,
        x.address => u64, x.step => c_int, y.address => u64, y.step => c_int
    );
    assert_eq!(status, 0);
    let sums = x.full().into_iter().zip(y.full()).map(|(x, y)| alpha.full() * x + y);
    y.is("axpy", &sums.collect::<Vec<_>>(), 1);
    for function in ["copy_v2", "swap_v2"] {
        let [x, y] = [(); 2].map(|()| Strided::<T>::new(random, n, true));
        let status = call!(
            &name::<T>(function), handle => Handle, n as c_int => c_int, x.address => u64, x.step => c_int,
            y.address => u64, y.step => c_int
        );
        assert_eq!(status, 0);
        y.is(function, &x.full(), 0);
        x.is(function, &if function == "swap_v2" { y.full() } else { x.full() }, 0);
    }
    let x = Strided::<T>::new(random, n, false);
    let status = call!(
        &name::<T>("scal_v2"), handle => Handle, n as c_int => c_int, &raw const alpha => *const T,
        x.address => u64, x.step => c_int
    );
    assert_eq!(status, 0);
    x.is("scal", &x.full().into_iter().map(|x| x * alpha.full()).collect::<Vec<_>>(), 1);
    let [x, y] = [(); 2].map(|()| Strided::<T>::new(random, n, true));
    let (c, s) = (T::Real::of(C::new(0.6, 0.0)), random.values::<T>(1)[0]);
    let status = call!(
        &name::<T>("rot_v2"), handle => Handle, n as c_int => c_int, x.address => u64, x.step => c_int,
        y.address => u64, y.step => c_int, &raw const c => *const T::Real, &raw const s => *const T
    );
    assert_eq!(status, 0);
    let pairs = || x.full().into_iter().zip(y.full());
    x.is("rot", &pairs().map(|(x, y)| c.full() * x + s.full() * y).collect::<Vec<_>>(), 2);
    y.is("rot", &pairs().map(|(x, y)| c.full() * y - s.full().conj() * x).collect::<Vec<_>>(), 2);
}

/// A matrix in a buffer with gaps: values, and the leading dimension.
fn matrix<T: Number>(random: &mut Random, rows: usize, columns: usize) -> (Vec<T>, usize, u64) {
    let leading = rows + 1 + random.below(3);
    let values: Vec<T> = random.values(leading * columns);
    let address = upload(&values);
    (values, leading, address)
}

fn products<T: Number>(handle: Handle, random: &mut Random) {
    let (m, n, op) = (1 + random.below(30), 1 + random.below(30), random.below(3) as c_int);
    let (a, leading, address) = matrix::<T>(random, m, n);
    let (inputs, outputs) = if op == 0 { (n, m) } else { (m, n) };
    let (x, y) = (Strided::<T>::new(random, inputs, true), Strided::<T>::new(random, outputs, true));
    let scalars: Vec<T> = random.values(2);
    let (alpha, beta) = (scalars[0], if random.below(3) == 0 { T::default() } else { scalars[1] });
    let status = call!(
        &name::<T>("gemv_v2"), handle => Handle, op => c_int, m as c_int => c_int, n as c_int => c_int,
        &raw const alpha => *const T, address => u64, leading as c_int => c_int, x.address => u64, x.step => c_int,
        &raw const beta => *const T, y.address => u64, y.step => c_int
    );
    assert_eq!(status, 0);
    let taken = Full::read(&a, m, n, leading).op(op);
    let want = taken.times(&x.column()).plus(alpha.full(), &y.column(), beta.full());
    y.is(&format!("gemv {op}"), &(0..outputs).map(|row| want.at(row, 0)).collect::<Vec<_>>(), inputs);

    let fill = random.below(2) as c_int;
    for (function, hermitian) in [("symv_v2", false), ("hemv_v2", true)] {
        if hermitian && !T::COMPLEX {
            continue;
        }
        let (a, leading, address) = matrix::<T>(random, n, n);
        let (x, y) = (Strided::<T>::new(random, n, true), Strided::<T>::new(random, n, true));
        let status = call!(
            &name::<T>(function), handle => Handle, fill => c_int, n as c_int => c_int, &raw const alpha => *const T,
            address => u64, leading as c_int => c_int, x.address => u64, x.step => c_int, &raw const beta => *const T,
            y.address => u64, y.step => c_int
        );
        assert_eq!(status, 0);
        let full = Full::read(&a, n, n, leading).mirrored(fill, hermitian);
        let want = full.times(&x.column()).plus(alpha.full(), &y.column(), beta.full());
        y.is(function, &(0..n).map(|row| want.at(row, 0)).collect::<Vec<_>>(), n);
    }

    // What a solution is multiplied by gives back what there was.
    let ones = random.below(2) as c_int;
    let (mut a, leading, _) = matrix::<T>(random, n, n);
    a.iter_mut().for_each(|value| *value = T::of(value.full() / (2.0 * n as f64)));
    (0..n).for_each(|place| a[place * leading + place] = T::of(C::new(1.5, 0.0)));
    let address = upload(&a);
    let x = Strided::<T>::new(random, n, true);
    let taken = Full::read(&a, n, n, leading).half(fill, ones == 1).op(op);
    for (function, want) in [("trmv_v2", taken.times(&x.column())), ("trsv_v2", x.column())] {
        let status = call!(
            &name::<T>(function), handle => Handle, fill => c_int, op => c_int, ones => c_int, n as c_int => c_int,
            address => u64, leading as c_int => c_int, x.address => u64, x.step => c_int
        );
        assert_eq!(status, 0);
        x.is(
            &format!("{function} {fill} {op} {ones}"),
            &(0..n).map(|row| want.at(row, 0)).collect::<Vec<_>>(),
            8 * n,
        );
    }
}

fn outer<T: Number>(handle: Handle, random: &mut Random) {
    let (m, n) = (1 + random.below(30), 1 + random.below(30));
    let alpha: T = random.values(1)[0];
    let functions: &[(&str, c_int)] =
        if T::COMPLEX { &[("geru_v2", 1), ("gerc_v2", 2)] } else { &[("ger_v2", 1)] };
    for (function, turned) in functions {
        let (a, leading, address) = matrix::<T>(random, m, n);
        let (x, y) = (Strided::<T>::new(random, m, true), Strided::<T>::new(random, n, true));
        let status = call!(
            &name::<T>(function), handle => Handle, m as c_int => c_int, n as c_int => c_int,
            &raw const alpha => *const T, x.address => u64, x.step => c_int, y.address => u64, y.step => c_int,
            address => u64, leading as c_int => c_int
        );
        assert_eq!(status, 0);
        let product = x.column().times(&y.column().op(*turned));
        let want = product.plus(alpha.full(), &Full::read(&a, m, n, leading), C::new(1.0, 0.0));
        let after = download::<T>(address, a.len());
        holds(function, (&a, &after), leading, &want, 2, |_, _| true);
    }
    let fill = random.below(2) as c_int;
    let real = T::Real::of(alpha.full());
    for (function, hermitian, two) in
        [("syr_v2", false, false), ("syr2_v2", false, true), ("her_v2", true, false), ("her2_v2", true, true)]
    {
        if hermitian && !T::COMPLEX {
            continue;
        }
        let (a, leading, address) = matrix::<T>(random, n, n);
        let (x, y) = (Strided::<T>::new(random, n, true), Strided::<T>::new(random, n, true));
        let turned = if hermitian { 2 } else { 1 };
        let (x_full, y_full) = (x.column(), y.column());
        let (status, product) = if two {
            let status = call!(
                &name::<T>(function), handle => Handle, fill => c_int, n as c_int => c_int, &raw const alpha => *const T,
                x.address => u64, x.step => c_int, y.address => u64, y.step => c_int, address => u64,
                leading as c_int => c_int
            );
            let other = if hermitian { alpha.full().conj() } else { alpha.full() };
            let (one, two) = (x_full.times(&y_full.op(turned)), y_full.times(&x_full.op(turned)));
            (status, one.plus(alpha.full(), &two, other))
        } else {
            let factor =
                if hermitian { (&raw const real).cast::<c_void>() } else { (&raw const alpha).cast() };
            let status = call!(
                &name::<T>(function), handle => Handle, fill => c_int, n as c_int => c_int, factor => *const c_void,
                x.address => u64, x.step => c_int, address => u64, leading as c_int => c_int
            );
            let factor = if hermitian { real.full() } else { alpha.full() };
            let square = x_full.times(&x_full.op(turned));
            (status, square.plus(factor, &square, C::new(0.0, 0.0)))
        };
        assert_eq!(status, 0, "{function}");
        let mut want = product.plus(C::new(1.0, 0.0), &Full::read(&a, n, n, leading), C::new(1.0, 0.0));
        if hermitian {
            want = want.mirrored(fill, true);
        }
        let after = download::<T>(address, a.len());
        holds(function, (&a, &after), leading, &want, 4, |row, column| lies(fill, row, column));
    }
}

fn all<T: Number>() {
    let (handle, mut random) = (handle(), Random(5));
    for _ in 0..40 {
        sums::<T>(handle, &mut random);
        moves::<T>(handle, &mut random);
        products::<T>(handle, &mut random);
        outer::<T>(handle, &mut random);
    }
    assert_eq!(call!("cublasDestroy_v2", handle => Handle), 0);
}

// Each alone: the pointer mode is the handle's, the driver is the process's.
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

#[test]
fn a_turn_makes_the_second_number_zero() {
    let handle = handle();
    for [mut a, mut b] in [[3.0_f64, 4.0], [-5.0, 1.0], [0.0, 2.0], [0.0, 0.0], [1e200, 1e200]] {
        let (before, mut c, mut s) = ([a, b], 0.0, 0.0);
        let status = call!(
            "cublasDrotg_v2", handle => Handle, &raw mut a => *mut f64, &raw mut b => *mut f64,
            &raw mut c => *mut f64, &raw mut s => *mut f64
        );
        assert_eq!(status, 0);
        let scale = before[0].abs().max(before[1].abs()).max(1.0);
        assert!((c * before[0] + s * before[1] - a).abs() <= 1e-15 * scale * 4.0, "{before:?}");
        assert!((c * before[1] - s * before[0]).abs() <= 1e-15 * scale * 4.0, "{before:?}");
        assert!((c * c + s * s - 1.0).abs() <= 1e-15 * 4.0, "{before:?}");
    }
}

#[test]
fn a_norm_does_not_overflow_on_the_way() {
    let handle = handle();
    let mut norm = 0.0_f64;
    let address = upload(&[3e300_f64, 4e300]);
    let status = call!(
        "cublasDnrm2_v2", handle => Handle, 2 => c_int, address => u64, 1 => c_int, &raw mut norm => *mut f64
    );
    assert_eq!(status, 0);
    assert!((norm / 5e300 - 1.0).abs() < 1e-15);
}
