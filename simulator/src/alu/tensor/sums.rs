//! Sums of products, in order.

/// How a product is added to a sum.
pub trait Product {
    /// What is multiplied and added.
    type Number: Copy + Default;
    /// Rows of D whose sums are kept in registers together.
    const ROWS: usize;
    /// `sum + a × b`
    fn add(sum: Self::Number, a: Self::Number, b: Self::Number) -> Self::Number;
}

macro_rules! products {
    ($($(#[$doc:meta])* $name:ident: $number:ty, $rows:literal rows, $add:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Product for $name {
            type Number = $number;
            const ROWS: usize = $rows;
            #[inline(always)]
            fn add(sum: $number, a: $number, b: $number) -> $number {
                let add: fn($number, $number, $number) -> $number = $add;
                add(sum, a, b)
            }
        }
    )*};
}

products! {
    /// The sum is rounded; the product of such operands is exact.
    Rounded: f32, 8 rows, |sum, a, b| sum + a * b;
    /// Product and sum are rounded once.
    Fused: f64, 4 rows, |sum, a, b| a.mul_add(b, sum);
    /// Integers; their sums have room.
    Whole: i32, 8 rows, |sum, a, b| sum + a * b;
    /// Bits that both have.
    And: i32, 8 rows, |sum, a, b| sum + (a & b);
    /// Bits that one of both has.
    Xor: i32, 8 rows, |sum, a, b| sum + (a ^ b);
}

/// Columns whose sums share a vector.
const COLUMNS: usize = 8;

/// Adds the product of `a` and `b` to `d`. All are row-major, with `n` columns in `b` and `d`. Rows and columns come in
/// eights: all shapes of the ISA are such.
#[inline(always)]
pub fn add<P: Product>(a: &[P::Number], b: &[P::Number], d: &mut [P::Number], n: usize) {
    let depth = b.len() / n;
    for (a, d) in a.chunks_exact(P::ROWS * depth).zip(d.chunks_exact_mut(P::ROWS * n)) {
        for column in (0..n).step_by(COLUMNS) {
            rows::<P>(a, b, d, (n, column, depth));
        }
    }
}

#[inline(always)]
fn rows<P: Product>(
    a: &[P::Number],
    b: &[P::Number],
    d: &mut [P::Number],
    (n, column, depth): (usize, usize, usize),
) {
    // No more than eight of them are used.
    let mut sums = [[P::Number::default(); COLUMNS]; 8];
    for (row, sums) in sums.iter_mut().enumerate().take(P::ROWS) {
        sums.copy_from_slice(&d[row * n + column..][..COLUMNS]);
    }
    for k in 0..depth {
        let b = &b[k * n + column..][..COLUMNS];
        for (row, sums) in sums.iter_mut().enumerate().take(P::ROWS) {
            let a = a[row * depth + k];
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = P::add(*sum, a, *b);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate().take(P::ROWS) {
        d[row * n + column..][..COLUMNS].copy_from_slice(sums);
    }
}
