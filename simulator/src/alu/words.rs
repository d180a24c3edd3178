//! A word (or a byte) of each lane of a warp, all lanes at once. Left to itself, the compiler does most of this lane by lane.
//!
//! There are two forms of each function, to the same effect. Who calls one need not know for which processor it is compiled itself:
//! to ask the processor is a load, each time.

/// Calls the form with vectors, where the processor has them; else that lane by lane.
macro_rules! by_vectors {
    ($name:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2; what else is asked for is the caller's promise.
            return unsafe { vectors::$name($($argument),*) };
        }
        #[allow(unused_unsafe, reason = "one of them asks for something")]
        // SAFETY: the caller's promise.
        unsafe {
            each::$name($($argument),*)
        }
    }};
}

/// Copies the words of these lanes.
#[inline(always)]
pub(crate) fn copy(lanes: u32, from: &[u32; 32], to: &mut [u32; 32]) {
    if lanes == !0 {
        *to = *from;
        return;
    }
    by_vectors!(copy(lanes, from, to))
}

/// Writes the words of these lanes to memory, side by side from that of lane 0 on; answers whether memory held another one. What other lanes
/// would write to is not touched.
///
/// # Safety
/// The words of these lanes are valid there, aligned or not.
#[inline(always)]
pub(crate) unsafe fn write(lanes: u32, from: &[u32; 32], to: *mut u32) -> bool {
    by_vectors!(write(lanes, from, to))
}

/// Lanes whose words are so large at least.
#[inline(always)]
pub(crate) fn at_least(least: u32, words: &[u32; 32]) -> u32 {
    by_vectors!(at_least(least, words))
}

/// Lanes whose bytes are so large at least.
#[inline(always)]
pub(crate) fn bytes_at_least(least: u8, bytes: &[u8; 32]) -> u32 {
    by_vectors!(bytes_at_least(least, bytes))
}

/// The bytes of these lanes become one more, as far as a byte goes.
#[inline(always)]
pub(crate) fn count_bytes(lanes: u32, bytes: &mut [u8; 32]) {
    by_vectors!(count_bytes(lanes, bytes))
}

/// The bytes of these lanes become zero.
#[inline(always)]
pub(crate) fn clear_bytes(lanes: u32, bytes: &mut [u8; 32]) {
    if lanes != 0 {
        by_vectors!(clear_bytes(lanes, bytes))
    }
}

mod each {
    //! Lane by lane, for any processor.

    fn has(lanes: u32, lane: usize) -> bool {
        lanes >> lane & 1 != 0
    }

    pub fn copy(lanes: u32, from: &[u32; 32], to: &mut [u32; 32]) {
        for (lane, (to, from)) in to.iter_mut().zip(from).enumerate() {
            *to = if has(lanes, lane) { *from } else { *to };
        }
    }

    /// # Safety
    /// The words of these lanes are valid.
    pub unsafe fn write(lanes: u32, from: &[u32; 32], to: *mut u32) -> bool {
        let mut changed = false;
        for (lane, from) in from.iter().enumerate().filter(|(lane, _)| has(lanes, *lane)) {
            let to = to.wrapping_add(lane);
            // SAFETY: the caller's promise.
            unsafe {
                changed |= to.read_unaligned() != *from;
                to.write_unaligned(*from);
            }
        }
        changed
    }

    pub fn at_least(least: u32, words: &[u32; 32]) -> u32 {
        words.iter().enumerate().fold(0, |lanes, (lane, word)| lanes | u32::from(*word >= least) << lane)
    }

    pub fn bytes_at_least(least: u8, bytes: &[u8; 32]) -> u32 {
        bytes.iter().enumerate().fold(0, |lanes, (lane, byte)| lanes | u32::from(*byte >= least) << lane)
    }

    pub fn count_bytes(lanes: u32, bytes: &mut [u8; 32]) {
        for (lane, byte) in bytes.iter_mut().enumerate() {
            *byte = byte.saturating_add(has(lanes, lane).into());
        }
    }

    pub fn clear_bytes(lanes: u32, bytes: &mut [u8; 32]) {
        for (lane, byte) in bytes.iter_mut().enumerate() {
            *byte = if has(lanes, lane) { 0 } else { *byte };
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod vectors {
    //! By the vectors of AVX2.

    use std::arch::x86_64::*;

    /// All ones in the words of these lanes, of the eight from `8 * vector` on.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn chosen(lanes: u32, vector: usize) -> __m256i {
        let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let lanes = _mm256_set1_epi32((lanes >> (8 * vector)) as i32);
        _mm256_cmpeq_epi32(_mm256_and_si256(lanes, bits), bits)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn copy(lanes: u32, from: &[u32; 32], to: &mut [u32; 32]) {
        for vector in 0..4 {
            // Blended by bytes and stored whole: some processors take long over masked stores.
            // SAFETY: of 32 words, these are eight.
            unsafe {
                let to = to.as_mut_ptr().add(8 * vector).cast();
                let new = _mm256_loadu_si256(from.as_ptr().add(8 * vector).cast());
                let blended = _mm256_blendv_epi8(_mm256_loadu_si256(to), new, chosen(lanes, vector));
                _mm256_storeu_si256(to, blended);
            }
        }
    }

    /// # Safety
    /// The words of these lanes are valid.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub unsafe fn write(lanes: u32, from: &[u32; 32], to: *mut u32) -> bool {
        let mut differ = _mm256_setzero_si256();
        for vector in 0..4 {
            let chosen = chosen(lanes, vector);
            let to = to.wrapping_add(8 * vector).cast();
            // SAFETY: what is not chosen is not touched. The words to be written are 32.
            unsafe {
                let old = _mm256_maskload_epi32(to, chosen);
                let new = _mm256_loadu_si256(from.as_ptr().add(8 * vector).cast());
                differ = _mm256_or_si256(differ, _mm256_and_si256(_mm256_xor_si256(old, new), chosen));
                _mm256_maskstore_epi32(to, chosen, new);
            }
        }
        _mm256_testz_si256(differ, differ) == 0
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn at_least(least: u32, words: &[u32; 32]) -> u32 {
        let least = _mm256_set1_epi32(least as i32);
        (0..4).fold(0, |lanes, vector| {
            // SAFETY: of 32 words, these are eight.
            let words = unsafe { _mm256_loadu_si256(words.as_ptr().add(8 * vector).cast()) };
            let reach = _mm256_cmpeq_epi32(_mm256_max_epu32(words, least), words);
            let eight = _mm256_movemask_ps(_mm256_castsi256_ps(reach)) as u32;
            lanes | eight << (8 * vector)
        })
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn bytes_at_least(least: u8, bytes: &[u8; 32]) -> u32 {
        // SAFETY: 32 bytes.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let least = _mm256_set1_epi8(least.cast_signed());
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(bytes, least), bytes)) as u32
    }

    /// All ones in the bytes of these lanes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn chosen_bytes(lanes: u32) -> __m256i {
        // The byte of the mask that has a lane's bit, in the place of each lane; then that bit.
        let spread =
            _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
        let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
        let lanes = _mm256_shuffle_epi8(_mm256_set1_epi32(lanes as i32), spread);
        _mm256_cmpeq_epi8(_mm256_and_si256(lanes, bits), bits)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn count_bytes(lanes: u32, bytes: &mut [u8; 32]) {
        let ones = _mm256_and_si256(chosen_bytes(lanes), _mm256_set1_epi8(1));
        // SAFETY: 32 bytes.
        unsafe {
            let to = bytes.as_mut_ptr().cast();
            _mm256_storeu_si256(to, _mm256_adds_epu8(_mm256_loadu_si256(to), ones));
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub fn clear_bytes(lanes: u32, bytes: &mut [u8; 32]) {
        // SAFETY: 32 bytes.
        unsafe {
            let to = bytes.as_mut_ptr().cast();
            _mm256_storeu_si256(to, _mm256_andnot_si256(chosen_bytes(lanes), _mm256_loadu_si256(to)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Rng;

    /// What a form makes of these: copied words, written bytes and whether they changed, lanes of large words and bytes, bytes counted
    /// and cleared.
    type Made = ([u32; 32], Vec<u8>, bool, [u32; 2], [[u8; 32]; 2]);

    macro_rules! made_by {
        ($form:ident, $lanes:expr, $from:expr, $old:expr, $bytes:expr, $least:expr) => {{
            let (lanes, from, old, bytes, least): (u32, [u32; 32], [u32; 32], [u8; 32], u32) =
                ($lanes, $from, $old, $bytes, $least);
            // The memory is not aligned, and what lies before it is not to be touched.
            let mut memory = vec![7_u8];
            memory.extend(old.iter().flat_map(|word| word.to_ne_bytes()));
            let (mut copied, mut counted, mut cleared) = (old, bytes, bytes);
            #[allow(unused_unsafe, reason = "one form asks for less")]
            // SAFETY: there are 32 words from the second byte on. With vectors: the processor has them.
            let (changed, large) = unsafe {
                $form::copy(lanes, &from, &mut copied);
                $form::count_bytes(lanes, &mut counted);
                $form::clear_bytes(lanes, &mut cleared);
                let changed = $form::write(lanes, &from, memory.as_mut_ptr().add(1).cast());
                (changed, [$form::at_least(least, &from), $form::bytes_at_least(least as u8, &bytes)])
            };
            let made: Made = (copied, memory, changed, large, [counted, cleared]);
            made
        }};
    }

    /// By both forms, and said once more in the plainest way.
    #[test]
    fn lanes_are_done_one_by_one() {
        let mut draws = Rng::new(3);
        for round in 0..2_000 {
            let mut word = |bits: u32| (draws.next() >> (32 + bits)) as u32;
            let lanes = match round % 5 {
                0 => !0,
                1 => 1 << word(27),
                _ => word(0),
            };
            let from = [(); 32].map(|()| word(round % 32));
            // Equal ones, too.
            let old = from.map(|value| if word(31) == 0 { value } else { word(0) });
            let bytes = from.map(|word| (word ^ word >> 8) as u8);
            let least = from[word(27) as usize].wrapping_add(word(31));

            let has = |lane: usize| lanes >> lane & 1 != 0;
            let copied: [u32; 32] =
                std::array::from_fn(|lane| if has(lane) { from[lane] } else { old[lane] });
            let memory = [7].into_iter().chain(copied.iter().flat_map(|word| word.to_ne_bytes())).collect();
            let all = |is: &dyn Fn(usize) -> bool| {
                (0..32).filter(|lane| is(*lane)).fold(0, |all, lane| all | 1 << lane)
            };
            let large = [all(&|lane| from[lane] >= least), all(&|lane| bytes[lane] >= least as u8)];
            let counted =
                std::array::from_fn(
                    |lane| if has(lane) { bytes[lane].saturating_add(1) } else { bytes[lane] },
                );
            let cleared = std::array::from_fn(|lane| if has(lane) { 0 } else { bytes[lane] });
            let expected: Made = (copied, memory, copied != old, large, [counted, cleared]);

            assert_eq!(made_by!(each, lanes, from, old, bytes, least), expected);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                assert_eq!(made_by!(vectors, lanes, from, old, bytes, least), expected);
            }
        }
    }

    /// A warp whose other lanes' words would lie where nothing is.
    #[test]
    fn what_is_not_written_need_not_be_there() {
        let mut words = vec![1, 2, 3].into_boxed_slice();
        // SAFETY: the words of these three lanes are there.
        assert!(unsafe { write(0b111 << 29, &[9; 32], words.as_mut_ptr().wrapping_sub(29)) });
        assert_eq!(*words, [9; 3]);
    }
}
