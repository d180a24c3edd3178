//! cuFFT's plans against sums by the definition, in 64 bits: types, dimensions, places, batches and layouts.

#![allow(clippy::macro_metavars_in_unsafe, reason = "the tests pass plain values")]

#[macro_use]
mod support;

use std::f64::consts::TAU;
use std::ffi::{c_int, c_void};
use std::ptr::null;

use num_complex::Complex;
use support::{C, Random, download, handle, upload};

/// Statuses of cuFFT.
const INVALID_PLAN: c_int = 1;
/// As above.
const INVALID_TYPE: c_int = 3;
/// As above.
const INVALID_VALUE: c_int = 4;
/// As above.
const INVALID_SIZE: c_int = 8;

/// By the definition: each result is a sum over all values.
fn transformed(extents: &[usize], values: &[C], sign: f64) -> Vec<C> {
    let places = |index: usize| {
        let mut rest = index;
        let mut found = vec![0; extents.len()];
        for dimension in (0..extents.len()).rev() {
            found[dimension] = rest % extents[dimension];
            rest /= extents[dimension];
        }
        found
    };
    let sum = |result: usize| -> C {
        let at = places(result);
        let term = |(index, value): (usize, &C)| {
            let turns: f64 = places(index)
                .iter()
                .zip(&at)
                .zip(extents)
                .map(|((a, b), n)| (a * b % n) as f64 / *n as f64)
                .sum();
            value * C::from_polar(1.0, sign * TAU * turns)
        };
        values.iter().enumerate().map(term).sum()
    };
    (0..values.len()).map(sum).collect()
}

/// The values of the last dimension that a transform of real values keeps.
fn kept(extents: &[usize], values: &[C]) -> Vec<C> {
    let last = extents[extents.len() - 1];
    values.chunks(last).flat_map(|row| &row[..last / 2 + 1]).copied().collect()
}

fn close(what: &str, got: impl IntoIterator<Item = C>, want: &[C], allowed: f64) {
    let got: Vec<C> = got.into_iter().collect();
    assert_eq!(got.len(), want.len(), "{what}");
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(
            (got - want).norm() <= allowed * (1.0 + want.norm()),
            "{what} at {index}: {got} and not {want}"
        );
    }
}

fn plan(extents: &[usize], kind: c_int, batch: usize) -> c_int {
    let mut plan = 0;
    let n: Vec<c_int> = extents.iter().map(|extent| *extent as c_int).collect();
    let status = match (n.len(), batch) {
        (1, _) => call!(
            "cufftPlan1d", &raw mut plan => *mut c_int, n[0] => c_int, kind => c_int, batch as c_int => c_int
        ),
        (2, 1) => {
            call!("cufftPlan2d", &raw mut plan => *mut c_int, n[0] => c_int, n[1] => c_int, kind => c_int)
        }
        (3, 1) => call!(
            "cufftPlan3d", &raw mut plan => *mut c_int, n[0] => c_int, n[1] => c_int, n[2] => c_int, kind => c_int
        ),
        (rank, _) => call!(
            "cufftPlanMany", &raw mut plan => *mut c_int, rank as c_int => c_int, n.as_ptr() => *const c_int,
            null() => *const c_int, 7 => c_int, 7 => c_int, null() => *const c_int, 7 => c_int, 7 => c_int,
            kind => c_int, batch as c_int => c_int
        ),
    };
    assert_eq!(status, 0, "{extents:?}");
    plan
}

const SHAPES: [&[usize]; 12] =
    [&[1], &[2], &[8], &[13], &[30], &[64], &[4, 6], &[5, 7], &[16, 3], &[2, 3, 4], &[5, 1, 6], &[3, 4, 5]];

/// Transforms of one precision: values, how they are rounded, the three types, and how far results may be off.
fn all<R: Copy + Default + 'static>(
    of: impl Fn(f64) -> R,
    full: impl Fn(R) -> f64,
    [complex, forth, back]: [c_int; 3],
    [exec_complex, exec_forth, exec_back]: [&str; 3],
    allowed: f64,
) where
    Complex<R>: Default,
{
    handle();
    let mut random = Random(23);
    for extents in SHAPES {
        for batch in [1, 3] {
            let count: usize = extents.iter().product();
            let last = extents[extents.len() - 1];
            let [padded, half] = [2 * (last / 2 + 1), last / 2 + 1];
            let rows = batch * count / last;
            let rounded = |random: &mut Random| full(of(random.value()));
            let values: Vec<C> =
                (0..batch * count).map(|_| C::new(rounded(&mut random), rounded(&mut random))).collect();
            let narrow = |values: &[C]| -> Vec<Complex<R>> {
                values.iter().map(|value| Complex::new(of(value.re), of(value.im))).collect()
            };
            let wide = |values: Vec<Complex<R>>| -> Vec<C> {
                values.into_iter().map(|value| C::new(full(value.re), full(value.im))).collect()
            };
            let each = |values: &[C], sign: f64| -> Vec<C> {
                values.chunks(count).flat_map(|one| transformed(extents, one, sign)).collect()
            };

            let made = plan(extents, complex, batch);
            for (direction, in_place) in [(-1, false), (1, false), (-1, true)] {
                let from = upload(&narrow(&values));
                let to = if in_place { from } else { upload(&vec![Complex::<R>::default(); batch * count]) };
                let status = call!(exec_complex, made => c_int, from => u64, to => u64, direction => c_int);
                assert_eq!(status, 0);
                let want = each(&values, f64::from(direction));
                let what =
                    format!("{exec_complex} {extents:?} times {batch}, {direction}, in place {in_place}");
                close(&what, wide(download(to, batch * count)), &want, allowed);
            }
            assert_eq!(call!("cufftDestroy", made => c_int), 0);

            let reals: Vec<C> = values.iter().map(|value| C::new(value.re, 0.0)).collect();
            let spectrum: Vec<C> =
                each(&reals, -1.0).chunks(count).flat_map(|one| kept(extents, one)).collect();
            for in_place in [false, true] {
                let made = plan(extents, forth, batch);
                let width = if in_place { padded } else { last };
                let mut stored = vec![of(9.0); rows * width];
                for (index, value) in reals.iter().enumerate() {
                    stored[index / last * width + index % last] = of(value.re);
                }
                let from = upload(&stored);
                let to = if in_place { from } else { upload(&vec![Complex::<R>::default(); rows * half]) };
                assert_eq!(call!(exec_forth, made => c_int, from => u64, to => u64), 0);
                let what = format!("{exec_forth} {extents:?} times {batch}, in place {in_place}");
                close(&what, wide(download(to, rows * half)), &spectrum, allowed);

                let made = plan(extents, back, batch);
                let from = upload(&narrow(&spectrum));
                let to = if in_place { from } else { upload(&vec![R::default(); rows * last]) };
                assert_eq!(call!(exec_back, made => c_int, from => u64, to => u64), 0);
                let found: Vec<R> = download(to, rows * width);
                let found = (0..rows * last)
                    .map(|index| C::new(full(found[index / last * width + index % last]), 0.0));
                let want: Vec<C> = reals.iter().map(|value| value * count as f64).collect();
                let what = format!("{exec_back} {extents:?} times {batch}, in place {in_place}");
                // The spectrum was rounded, too.
                close(&what, found, &want, (count + 4) as f64 * allowed);
            }
        }
    }
}

#[test]
fn of_single_precision() {
    let names = ["cufftExecC2C", "cufftExecR2C", "cufftExecC2R"];
    all::<f32>(|value| value as f32, f64::from, [0x29, 0x2a, 0x2c], names, 2e-7);
}

#[test]
fn of_double_precision() {
    let names = ["cufftExecZ2Z", "cufftExecD2Z", "cufftExecZ2D"];
    all::<f64>(|value| value, |value| value, [0x69, 0x6a, 0x6c], names, 1e-13);
}

/// Columns of a matrix, transformed into rows of another one with gaps.
#[test]
fn of_an_advanced_layout() {
    handle();
    let (n, batch) = (6, 4);
    let mut random = Random(9);
    let values: Vec<C> = (0..n * batch).map(|_| C::new(random.value(), random.value())).collect();
    let (mut made, size) = (0, n as c_int);
    let room = [0, 0];
    let status = call!(
        "cufftPlanMany", &raw mut made => *mut c_int, 1 => c_int, &raw const size => *const c_int,
        room.as_ptr() => *const c_int, batch as c_int => c_int, 1 => c_int, room.as_ptr() => *const c_int, 2 => c_int,
        20 => c_int, 0x69 => c_int, batch as c_int => c_int
    );
    assert_eq!(status, 0);
    let untouched = C::new(7.0, 7.0);
    let (from, to) = (upload(&values), upload(&[untouched; 80]));
    assert_eq!(call!("cufftExecZ2Z", made => c_int, from => u64, to => u64, -1 => c_int), 0);
    let after: Vec<C> = download(to, 80);
    for transform in 0..batch {
        let column: Vec<C> = (0..n).map(|row| values[row * batch + transform]).collect();
        let want = transformed(&[n], &column, -1.0);
        let got = (0..n).map(|index| after[transform * 20 + 2 * index]);
        close(&format!("column {transform}"), got, &want, 1e-14);
    }
    let gaps = after.iter().enumerate().filter(|(index, _)| index % 20 % 2 == 1 || index % 20 >= 2 * n);
    assert!(gaps.into_iter().all(|(_, value)| *value == untouched));
}

/// A plan of two transforms of twelve values between data of these types.
fn plan_by_data(from: c_int, to: c_int, within: c_int) -> (c_int, c_int) {
    let (mut made, mut bytes, size) = (0, 9_usize, 12_i64);
    assert_eq!(call!("cufftCreate", &raw mut made => *mut c_int), 0);
    let none = null::<i64>();
    let status = call!(
        "cufftXtMakePlanMany", made => c_int, 1 => c_int, &raw const size => *const i64, none => *const i64, 1 => i64, 1 => i64,
        from => c_int, none => *const i64, 1 => i64, 1 => i64, to => c_int, 2 => i64, &raw mut bytes => *mut usize, within => c_int
    );
    (made, status)
}

#[test]
fn of_plans_by_the_types_of_data() {
    handle();
    let mut random = Random(11);
    let values: Vec<C> = (0..24).map(|_| C::new(random.value(), random.value())).collect();
    let want: Vec<C> = values.chunks(12).flat_map(|values| transformed(&[12], values, -1.0)).collect();
    // Complex numbers of double precision.
    let (plan, status) = plan_by_data(5, 5, 5);
    assert_eq!(status, 0);
    let place = upload(&values);
    assert_eq!(call!("cufftXtExec", plan => c_int, place => u64, place => u64, -1 => c_int), 0);
    close("complex", download::<C>(place, 24), &want, 1e-13);
    // Real ones, and back, whatever direction is said.
    let reals: Vec<f64> = values.iter().map(|value| value.re).collect();
    let complex: Vec<C> = reals.iter().map(|value| C::new(*value, 0.0)).collect();
    let want: Vec<C> =
        complex.chunks(12).flat_map(|values| kept(&[12], &transformed(&[12], values, -1.0))).collect();
    let (from, to) = (upload(&reals), upload(&[C::default(); 14]));
    let (plan, status) = plan_by_data(1, 5, 5);
    assert_eq!(status, 0);
    assert_eq!(call!("cufftXtExec", plan => c_int, from => u64, to => u64, 1 => c_int), 0);
    close("real", download::<C>(to, 14), &want, 1e-13);
    let (plan, status) = plan_by_data(5, 1, 5);
    assert_eq!(status, 0);
    assert_eq!(call!("cufftXtExec", plan => c_int, to => u64, from => u64, -1 => c_int), 0);
    let back = download::<f64>(from, 24).into_iter().map(|value| C::new(value / 12.0, 0.0));
    close("back", back, &complex, 1e-13);
    // Of single precision.
    let narrow = Complex::new(1.0_f32, 0.0);
    let (plan, status) = plan_by_data(4, 4, 4);
    assert_eq!(status, 0);
    let place = upload(&[narrow; 24]);
    assert_eq!(call!("cufftExecC2C", plan => c_int, place => u64, place => u64, -1 => c_int), 0);
    assert_eq!(download::<Complex<f32>>(place, 1), [Complex::new(12.0, 0.0)]);
    // Types that do not go together, real ones alone, and numbers of 16 bits.
    for (from, to, within) in [(4, 5, 5), (0, 0, 4), (0, 4, 5), (6, 6, 6), (2, 6, 6), (77, 4, 4)] {
        assert_eq!(plan_by_data(from, to, within).1, INVALID_TYPE, "{from} {to} {within}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    handle();
    let mut made = 0;
    let place = &raw mut made;
    let plan = |n: c_int, kind: c_int, batch: c_int| call!("cufftPlan1d", place => *mut c_int, n => c_int, kind => c_int, batch => c_int);
    assert_eq!(plan(0, 0x29, 1), INVALID_SIZE);
    assert_eq!(plan(8, 0x29, 0), INVALID_SIZE);
    assert_eq!(plan(8, 0x30, 1), INVALID_TYPE);
    assert_eq!(call!("cufftExecC2C", 12345 => c_int, 8 => u64, 8 => u64, -1 => c_int), INVALID_PLAN);
    assert_eq!(plan(8, 0x29, 1), 0);
    // SAFETY: it was written by the call.
    let made = unsafe { place.read() };
    assert_eq!(
        call!("cufftExecZ2Z", made => c_int, 8 => u64, 8 => u64, -1 => c_int),
        INVALID_PLAN,
        "of another type"
    );
    assert_eq!(call!("cufftExecC2C", made => c_int, 8 => u64, 8 => u64, 0 => c_int), INVALID_VALUE);
    assert_eq!(call!("cufftDestroy", made => c_int), 0);
    assert_eq!(call!("cufftDestroy", made => c_int), INVALID_PLAN);
    let mut empty = 0;
    assert_eq!(call!("cufftCreate", &raw mut empty => *mut c_int), 0);
    assert_eq!(
        call!("cufftExecC2C", empty => c_int, 8 => u64, 8 => u64, -1 => c_int),
        INVALID_PLAN,
        "not made yet"
    );
    let mut size = 1_usize;
    let status = call!(
        "cufftMakePlan2d", empty => c_int, 4 => c_int, 4 => c_int, 0x2a => c_int, &raw mut size => *mut usize
    );
    assert_eq!((status, size), (0, 0));
    assert_eq!(call!("cufftSetStream", empty => c_int, null() => *const c_void), 0);
}
