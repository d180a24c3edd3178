//! For how long stores wait, and which do: what is drawn for all lanes of a warp at once.

/// By a draw, for how many of its thread's own accesses something waits: mostly few, at most 128.
#[inline]
pub(super) fn patience(draw: u64) -> u32 {
    1 + ((draw >> 32) as u32 & ((2 << (draw & 7).min(6)) - 1))
}

/// For how many accesses of their threads the stores of a warp's lanes wait by one instruction, those that do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Together {
    /// All as long.
    Same(u32),
    /// These lanes, and the others.
    Parts(u32, [u32; 2]),
    /// Each for a time of its own.
    Own,
}

impl Together {
    /// What a warp's lanes store meets on its way to memory what lies together, so that it mostly goes there together; now and then in two
    /// parts, and seldom lane by lane.
    pub fn new(mut draw: impl FnMut() -> u64) -> Together {
        let first = draw();
        match first >> 58 {
            0..2 => Together::Own,
            2..18 => {
                let accesses = [patience(first), patience(draw())];
                Together::Parts(draw() as u32, accesses)
            }
            _ => Together::Same(patience(first)),
        }
    }

    /// How long that of a lane does, if it has no time of its own.
    #[inline]
    pub fn of(self, lane: usize) -> Option<u32> {
        match self {
            Together::Same(accesses) => Some(accesses),
            Together::Parts(lanes, accesses) => Some(accesses[(lanes >> lane & 1) as usize]),
            Together::Own => None,
        }
    }
}

/// Which of these lanes do what has this chance, each by itself: `draw` gives bits, 64 at a time.
pub(super) fn lots(chance: u32, among: u32, mut draw: impl FnMut() -> u64) -> u32 {
    if chance == 0 || chance == u32::MAX {
        return if chance == 0 { 0 } else { among };
    }
    // Each lane's number is compared with the chance from its highest bit on; most lanes are decided after a few.
    let (mut less, mut open, mut bits) = (0, among, 0);
    for bit in (0..u32::BITS).rev() {
        if open == 0 {
            break;
        }
        bits = if bit % 2 == 1 { draw() } else { bits >> 32 };
        let ones = bits as u32;
        if chance >> bit & 1 != 0 {
            less |= open & !ones;
            open &= ones;
        } else {
            open &= !ones;
        }
    }
    less | open
}
