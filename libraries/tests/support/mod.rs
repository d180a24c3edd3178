//! What the tests share: a device of the driver that cargo built, functions by name, random numbers, and matrices computed by
//! plain loops in 64 bits.

#![allow(dead_code, reason = "each test file uses a part")]

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::null_mut;

use num_complex::Complex;

/// What everything is compared in.
pub type C = Complex<f64>;

/// A function of the library's, or of the driver's.
pub fn address(name: &str) -> *const c_void {
    bugaroo_libraries::exports::find(name).unwrap_or_else(|| panic!("{name} is there")).0
}

/// Calls a function by its name, with these arguments; it gives a status.
#[macro_export]
macro_rules! call {
    ($name:expr $(, $argument:expr => $type:ty)* $(,)?) => {{
        let found = $crate::support::address($name);
        // SAFETY: the function has these arguments, which the test has made.
        unsafe {
            let function: unsafe extern "C" fn($($type),*) -> std::ffi::c_int = std::mem::transmute(found);
            function($($argument),*)
        }
    }};
}

fn driver(name: &CStr) -> *mut c_void {
    let test = std::env::current_exe().expect("the test binary knows itself");
    let built = test.ancestors().nth(2).expect("it is in a folder of the profile's").join("libcuda.so");
    assert!(built.is_file(), "{} is not built: build the workspace first", built.display());
    let path = CString::new(built.into_os_string().into_encoded_bytes()).expect("paths hold no NUL");
    // SAFETY: C strings. Who asks for the driver by its name from now on gets this one.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        assert!(!library.is_null(), "the driver can be loaded");
        let found = libc::dlsym(library, name.as_ptr());
        assert!(!found.is_null(), "{name:?}");
        found
    }
}

/// A handle of cuBLAS's, on a device.
pub fn handle() -> *mut c_void {
    driver(c"cuInit");
    let mut handle = null_mut();
    assert_eq!(call!("cublasCreate_v2", &raw mut handle => *mut *mut c_void), 0);
    handle
}

/// Device memory with these values.
pub fn upload<T: Copy>(values: &[T]) -> u64 {
    let (mut address, bytes) = (0_u64, size_of_val(values));
    // SAFETY: the driver's prototypes; the values have so many bytes.
    unsafe {
        let allocate: unsafe extern "C" fn(*mut u64, usize) -> c_int =
            std::mem::transmute(driver(c"cuMemAlloc_v2"));
        let copy: unsafe extern "C" fn(u64, *const c_void, usize) -> c_int =
            std::mem::transmute(driver(c"cuMemcpyHtoD_v2"));
        assert_eq!(allocate(&raw mut address, bytes.max(1)), 0);
        if bytes > 0 {
            assert_eq!(copy(address, values.as_ptr().cast(), bytes), 0);
        }
    }
    address
}

/// What stands in device memory.
pub fn download<T: Copy + Default>(address: u64, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    // SAFETY: as above.
    unsafe {
        let copy: unsafe extern "C" fn(*mut c_void, u64, usize) -> c_int =
            std::mem::transmute(driver(c"cuMemcpyDtoH_v2"));
        assert_eq!(copy(values.as_mut_ptr().cast(), address, count * size_of::<T>()), 0);
    }
    values
}

/// Random numbers (SplitMix64), the same in every run.
pub struct Random(pub u64);

impl Random {
    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// From -1 to 1.
    pub fn value(&mut self) -> f64 {
        self.bits() as f64 / u64::MAX as f64 * 2.0 - 1.0
    }

    /// Values of a type.
    pub fn values<T: Number>(&mut self, count: usize) -> Vec<T> {
        (0..count).map(|_| T::of(C::new(self.value(), self.value()))).collect()
    }
}

/// A type of cuBLAS's.
pub trait Number: Copy + Default + PartialEq + std::fmt::Debug + 'static {
    /// Its letter.
    const LETTER: &'static str;
    /// Whether it has an imaginary part.
    const COMPLEX: bool;
    /// How far a result may be off, relatively, for each sum of one.
    const EPSILON: f64;
    /// The real type.
    type Real: Number;
    /// Rounded; the imaginary part may be lost.
    fn of(value: C) -> Self;
    /// In 64 bits.
    fn full(self) -> C;
}

macro_rules! numbers {
    ($($type:ty, $real:ty, $letter:literal, $complex:literal, $epsilon:literal, |$value:ident| $of:expr, |$own:ident| $full:expr;)*) => {$(
        impl Number for $type {
            const LETTER: &'static str = $letter;
            const COMPLEX: bool = $complex;
            const EPSILON: f64 = $epsilon;
            type Real = $real;
            fn of($value: C) -> Self { $of }
            fn full(self) -> C { let $own = self; $full }
        }
    )*};
}
numbers! {
    f32, f32, "S", false, 3e-7, |value| value.re as f32, |own| C::new(f64::from(own), 0.0);
    f64, f64, "D", false, 1e-15, |value| value.re, |own| C::new(own, 0.0);
    Complex<f32>, f32, "C", true, 6e-7, |value| Complex::new(value.re as f32, value.im as f32), |own| C::new(f64::from(own.re), f64::from(own.im));
    C, f64, "Z", true, 2e-15, |value| value, |own| own;
}

/// A matrix in 64 bits.
#[derive(Clone, Debug)]
pub struct Full {
    pub rows: usize,
    pub columns: usize,
    values: Vec<C>,
}

impl Full {
    /// By a function of row and column.
    pub fn by(rows: usize, columns: usize, value: impl Fn(usize, usize) -> C) -> Full {
        let place = |index| (index % rows.max(1), index / rows.max(1));
        let values = (0..rows * columns).map(|index| {
            let (row, column) = place(index);
            value(row, column)
        });
        Full { rows, columns, values: values.collect() }
    }

    /// What stands in a buffer, with so many values from column to column.
    pub fn read<T: Number>(buffer: &[T], rows: usize, columns: usize, leading: usize) -> Full {
        Full::by(rows, columns, |row, column| buffer[column * leading + row].full())
    }

    /// A value.
    pub fn at(&self, row: usize, column: usize) -> C {
        self.values[column * self.rows + row]
    }

    /// As `cublasOperation_t` says.
    pub fn op(&self, op: c_int) -> Full {
        match op {
            0 => self.clone(),
            1 => Full::by(self.columns, self.rows, |row, column| self.at(column, row)),
            _ => Full::by(self.columns, self.rows, |row, column| self.at(column, row).conj()),
        }
    }

    /// Times another.
    pub fn times(&self, other: &Full) -> Full {
        assert_eq!(self.columns, other.rows);
        Full::by(self.rows, other.columns, |row, column| {
            (0..self.columns).map(|step| self.at(row, step) * other.at(step, column)).sum()
        })
    }

    /// Plus another, both with factors.
    pub fn plus(&self, factor: C, other: &Full, of_other: C) -> Full {
        Full::by(self.rows, self.columns, |row, column| {
            factor * self.at(row, column) + of_other * other.at(row, column)
        })
    }

    /// One half (`cublasFillMode_t`), zeroes in the other; with a diagonal of ones.
    pub fn half(&self, fill: c_int, ones: bool) -> Full {
        Full::by(self.rows, self.columns, |row, column| match (row == column, lies(fill, row, column)) {
            (true, _) if ones => C::new(1.0, 0.0),
            (_, true) => self.at(row, column),
            (_, false) => C::new(0.0, 0.0),
        })
    }

    /// Symmetric or Hermitian, by one half.
    pub fn mirrored(&self, fill: c_int, hermitian: bool) -> Full {
        Full::by(self.rows, self.columns, |row, column| match (row == column, lies(fill, row, column)) {
            (true, _) if hermitian => C::new(self.at(row, row).re, 0.0),
            (_, true) => self.at(row, column),
            (_, false) if hermitian => self.at(column, row).conj(),
            (_, false) => self.at(column, row),
        })
    }
}

/// Whether a place is in a half of a matrix.
pub fn lies(fill: c_int, row: usize, column: usize) -> bool {
    if fill == 0 { row >= column } else { row <= column }
}

/// Asks that a buffer holds a matrix, where `covers` says so, and everywhere else what it held before.
pub fn holds<T: Number>(
    what: &str,
    (before, after): (&[T], &[T]),
    leading: usize,
    want: &Full,
    terms: usize,
    covers: impl Fn(usize, usize) -> bool,
) {
    for (index, (before, after)) in before.iter().zip(after).enumerate() {
        let (row, column) = (index % leading, index / leading);
        if row < want.rows && column < want.columns && covers(row, column) {
            let (got, want) = (after.full(), want.at(row, column));
            let allowed = T::EPSILON * (terms + 4) as f64 * (1.0 + want.norm());
            assert!((got - want).norm() <= allowed, "{what} at {row}, {column}: {got} and not {want}");
        } else {
            assert_eq!(before, after, "{what} at {row}, {column}: it is not to be touched");
        }
    }
}
