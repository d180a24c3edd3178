//! The access of a load, store or atomic by lanes of a warp, as a model looks at it.

use bugaroo_ptx::op::AtomOp;
use bugaroo_ptx::types::{Semantics, Space};

use crate::address::SHARED_WINDOW;
use crate::alu::Width;
use crate::alu::words;
use crate::decoded::{Address, Atomic, Base, DecodedAccess};
use crate::exec::{
    Made, Pattern, RANK_SHIFT, Resolved, Whose, combine, combine_wide, give_wide, lanes, read_lane, row,
    sum32, write_lane,
};
use crate::model::fetch::{LINE, fetch};
use crate::model::targets::Targets;

/// Registers that an access moves.
#[derive(Clone, Copy)]
pub(crate) enum Data<'a> {
    Moved(&'a DecodedAccess),
    /// And whether 32-bit floats that are subnormal are flushed.
    Combined(&'a Atomic, bool),
}

/// An access: where it goes and what it moves, lane by lane. Questions are about lanes that execute it.
pub struct Accessed<'a> {
    pub(crate) frame: *mut u8,
    pub(crate) consts: *const u8,
    pub(crate) address: &'a Address,
    pub(crate) found: Resolved,
    pub(crate) pointers: &'a [u64; 32],
    pub(crate) data: Data<'a>,
    /// Where what atomics make is taken down, where somebody looks on.
    pub(crate) made: Option<&'a Made>,
    /// Order, strength and scope.
    pub semantics: Semantics,
    /// Bytes of an element: 1, 2, 4 or 8; 16 for an atomic. Elements of 128 bits are loaded and stored as two halves.
    pub size: u32,
    /// Elements: 1, 2, 4 or 8.
    pub elements: u32,
}

/// The registers of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    frame: *mut u8,
    access: DecodedAccess,
}

impl Registers {
    /// As [`Accessed::supply`].
    ///
    /// # Safety
    /// The lane is still in the call that the load was executed in.
    pub(crate) unsafe fn supply(&self, lane: usize, element: u32, value: u64) {
        // SAFETY: the caller's promise.
        unsafe { supply(self.frame, &self.access, lane, element, value) };
    }

    /// Bytes of an element, and elements.
    pub(crate) fn elements(&self) -> (u32, u32) {
        (self.access.size.into(), self.access.vec.into())
    }
}

/// Gives a load's element a value, in the lane's register.
///
/// # Safety
/// The lane is still in the call of this frame, in which the load was executed.
#[inline(always)]
unsafe fn supply(frame: *mut u8, access: &DecodedAccess, lane: usize, element: u32, value: u64) {
    let bits = 8 * u32::from(access.size);
    let value = if access.signed {
        ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
    } else {
        value & (u64::MAX >> (64 - bits))
    };
    let element = element as usize;
    // SAFETY: a load's rows lie in the frame, and frames never move while a lane is in them.
    unsafe {
        write_lane(frame.add(access.rows[element] as usize), access.width[element], lane, value);
    }
}

/// The generic address of a lane's first element. `own_window`: see [`Resolved`].
///
/// # Safety
/// The address's slots are rows of the frame or the constants.
#[inline(always)]
pub(crate) unsafe fn generic_address(
    address: &Address,
    (frame, consts): (*const u8, *const u8),
    own_window: u64,
    lane: usize,
) -> u64 {
    // SAFETY: the caller's promise; the widths are the loader's.
    let base = unsafe {
        match address.base {
            Base::Row64(slot) => read_lane(row(frame, consts, slot), Width::W64, lane),
            Base::Row32(slot) => read_lane(row(frame, consts, slot), Width::W32, lane),
            Base::Fixed | Base::FrameLocal => 0,
        }
    };
    let sum = match address.base {
        Base::Row32(_) => sum32(base as u32, address.offset),
        _ => base.wrapping_add(address.offset),
    };
    let sum = if address.space == Space::Shared { sum.wrapping_add(SHARED_WINDOW) } else { sum };
    // One address for each byte, whatever way the block has got it.
    if own_window != 0 && sum >> RANK_SHIFT == own_window {
        return SHARED_WINDOW | sum & ((1 << RANK_SHIFT) - 1);
    }
    sum
}

/// The generic addresses of all lanes, as [`generic_address`] has them where there is no other window of the block's own.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn generic_addresses(
    address: &Address,
    (frame, consts): (*const u8, *const u8),
    to: &mut [u64; 32],
) {
    let window = if address.space == Space::Shared { SHARED_WINDOW } else { 0 };
    let offset = address.offset;
    // SAFETY: the caller's promise; the widths are the loader's.
    unsafe {
        match address.base {
            Base::Row64(slot) => {
                let base = &*row(frame, consts, slot).cast::<[u64; 32]>();
                let all = offset.wrapping_add(window);
                to.iter_mut().zip(base).for_each(|(to, base)| *to = base.wrapping_add(all));
            }
            Base::Row32(slot) => {
                let base = &*row(frame, consts, slot).cast::<[u32; 32]>();
                to.iter_mut()
                    .zip(base)
                    .for_each(|(to, base)| *to = sum32(*base, offset).wrapping_add(window));
            }
            Base::Fixed | Base::FrameLocal => *to = [offset.wrapping_add(window); 32],
        }
    }
}

impl std::fmt::Debug for Accessed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accessed")
            .field("semantics", &self.semantics)
            .field("size", &self.size)
            .field("elements", &self.elements)
            .finish_non_exhaustive()
    }
}

impl<'a> Accessed<'a> {
    /// A load or a store: its registers lie in `frame`, its constants in `consts`, its bytes where it was resolved to.
    #[inline(always)]
    pub(crate) fn moved(
        access: &'a DecodedAccess,
        (frame, consts): (*mut u8, *const u8),
        (found, pointers): (Resolved, &'a [u64; 32]),
    ) -> Accessed<'a> {
        Accessed {
            frame,
            consts,
            address: &access.address,
            found,
            pointers,
            data: Data::Moved(access),
            made: None,
            semantics: access.semantics,
            size: access.size.into(),
            elements: access.vec.into(),
        }
    }
}

impl<'a> Accessed<'a> {
    /// An atomic; `flush`: subnormal 32-bit floats become zero.
    #[inline(always)]
    pub(crate) fn combined(
        atomic: &'a Atomic,
        flush: bool,
        (frame, consts): (*mut u8, *const u8),
        (found, pointers): (Resolved, &'a [u64; 32]),
        made: Option<&'a Made>,
    ) -> Accessed<'a> {
        Accessed {
            frame,
            consts,
            address: &atomic.address,
            found,
            pointers,
            data: Data::Combined(atomic, flush),
            made,
            semantics: atomic.semantics,
            size: atomic.ty.bytes(),
            elements: 1,
        }
    }
}

impl Accessed<'_> {
    /// Bytes that a lane accesses.
    pub fn bytes(&self) -> u32 {
        self.size * self.elements
    }

    /// The generic address of a lane's first element. Addresses of shared memory lie in the window that
    /// [`crate::SHARED_WINDOW`] begins; addresses of a generic instruction may lie in the windows of local memory and
    /// of the parameters, where no model has anything to do.
    #[inline(always)]
    pub fn address(&self, lane: usize) -> u64 {
        // SAFETY: the loader's slots.
        unsafe { generic_address(self.address, (self.frame, self.consts), self.found.own_window, lane) }
    }

    /// [`Self::address`] of all lanes; of those that do not execute it, anything.
    #[inline]
    pub(crate) fn addresses(&self) -> [u64; 32] {
        if self.found.own_window != 0 {
            return std::array::from_fn(|lane| self.address(lane));
        }
        let mut all = [0; 32];
        // SAFETY: the loader's slots.
        unsafe { generic_addresses(self.address, (self.frame, self.consts), &mut all) };
        all
    }

    /// Finds the generic addresses of these lanes as one thing, and answers whether they are those of the CTA's own shared memory
    /// (or of global memory); None where lanes may differ in that.
    #[inline(always)]
    pub(crate) fn aim(&self, among: u32, targets: &mut Targets) -> Option<bool> {
        let shared = match self.found.whose {
            Whose::Global | Whose::Unwritten => false,
            Whose::Shared => true,
            Whose::Unsaid => return None,
        };
        let (bytes, first) = (self.bytes(), among.trailing_zeros() & 31);
        match self.found.pattern {
            Pattern::Consecutive(_) => {
                targets.base = self.address(first as usize).wrapping_sub(u64::from(first * bytes));
                targets.step = Some(bytes.into());
            }
            Pattern::Same(_) => {
                (targets.base, targets.step) = (self.address(first as usize), Some(0));
            }
            Pattern::Each => {
                let each = &mut targets.each;
                // SAFETY: the loader's slots.
                unsafe { generic_addresses(self.address, (self.frame, self.consts), each) };
                targets.find_step(among, bytes);
            }
        }
        Some(shared)
    }

    /// What memory holds there now: the bytes of an element, low ones first.
    #[inline(always)]
    pub fn read(&self, lane: usize, element: u32) -> u64 {
        let from = self.pointer(lane).wrapping_add((element * self.size) as usize);
        // SAFETY: the engine has checked the whole access of each lane that executes it.
        unsafe { crate::exec::read_memory(from, self.size) }
    }

    /// As [`Self::read`], of the one element of an atomic, which may have sixteen bytes.
    pub(crate) fn read_whole(&self, lane: usize) -> u128 {
        let low = self.read(lane, 0);
        if self.size <= 8 {
            return low.into();
        }
        let high = self.pointer(lane).wrapping_add(8);
        // SAFETY: the engine has checked all sixteen bytes.
        u128::from(low) | u128::from(unsafe { crate::exec::read_memory(high, 8) }) << 64
    }

    /// Whether a load's registers hold what memory does.
    pub(crate) fn gave_what_memory_holds(&self, lane: usize) -> bool {
        let Data::Moved(access) = self.data else { return true };
        (0..self.elements).all(|element| {
            let (slot, width) = (access.rows[element as usize], access.width[element as usize]);
            // SAFETY: a load's rows lie in the frame, with these widths.
            let register = unsafe { read_lane(row(self.frame, self.consts, slot), width, lane) };
            let bits = (8 * self.size).min(8 * width.bytes() / 32);
            (register ^ self.read(lane, element)) & (u64::MAX >> (64 - bits)) == 0
        })
    }

    /// Writes an element of a lane to memory, as the instruction would.
    #[inline(always)]
    pub fn write(&self, lane: usize, element: u32, value: u64) {
        let to = self.pointer(lane).wrapping_add((element * self.size) as usize);
        // SAFETY: as above; stores and atomics were checked for writing.
        unsafe { crate::exec::write_memory(to, self.size, value) }
    }

    /// Fetches the memory of a warp whose lanes access elements in a row: it is written before long.
    pub(crate) fn fetch(&self) {
        if let Pattern::Consecutive(first) = self.found.pattern {
            (0..32 * self.bytes() as usize).step_by(LINE).for_each(|line| fetch(first.wrapping_add(line)));
        }
    }

    #[inline(always)]
    fn pointer(&self, lane: usize) -> *mut u8 {
        self.found.lane(self.pointers, lane, self.bytes())
    }

    /// A store's element, cut to its size.
    #[inline(always)]
    pub fn value(&self, lane: usize, element: u32) -> u64 {
        let Data::Moved(access) = self.data else { return 0 };
        let element = element as usize;
        // SAFETY: the loader recorded each row with its width.
        let value = unsafe {
            read_lane(row(self.frame, self.consts, access.rows[element]), access.width[element], lane)
        };
        value & (u64::MAX >> (64 - 8 * self.size))
    }

    /// A store's elements, one behind the other; of those of more than sixteen bytes, the first ones.
    #[inline(always)]
    pub fn whole_value(&self, lane: usize) -> u128 {
        let fitting = self.elements.min(16 / self.size);
        (0..fitting).fold(0, |whole, element| {
            whole | u128::from(self.value(lane, element)) << (8 * self.size * element)
        })
    }

    /// A store's elements, as [`Self::whole_value`] has them, of these lanes, a plane of 32 bits each after the other; of other lanes
    /// anything. They are where the store has them; where that is not in planes, they are put into `own`.
    #[inline(always)]
    pub(crate) fn planes<'p>(
        &'p self,
        among: u32,
        own: &'p mut Option<[[u32; 32]; 4]>,
    ) -> [&'p [u32; 32]; 4] {
        const NOTHING: &[u32; 32] = &[0; 32];
        if let Data::Moved(access) = self.data
            && self.size == 4
            && self.elements <= 4
            && access.width.iter().zip(0..self.elements).all(|(width, _)| *width == Width::W32)
        {
            let mut planes = [NOTHING; 4];
            for (plane, slot) in planes.iter_mut().zip(access.rows).take(self.elements as usize) {
                // SAFETY: the loader recorded each row with its width: these have 32 words. Nobody writes registers while a model
                // looks at a store.
                *plane = unsafe { &*row(self.frame, self.consts, slot).cast::<[u32; 32]>() };
            }
            return planes;
        }
        own.insert(self.gathered(among)).each_ref()
    }

    /// The same, lane by lane.
    #[inline(never)]
    fn gathered(&self, among: u32) -> [[u32; 32]; 4] {
        let mut planes = [[0; 32]; 4];
        if let Data::Moved(_) = self.data {
            for lane in lanes(among) {
                let value = self.whole_value(lane);
                for (at, plane) in planes.iter_mut().enumerate() {
                    plane[lane] = (value >> (32 * at)) as u32;
                }
            }
        }
        planes
    }

    /// As [`Self::supply`], for these lanes, of 32 bits each: nothing is done, and `false` answered, where the element or its
    /// registers have other sizes.
    #[inline(always)]
    pub(crate) fn supply_plane(&self, among: u32, element: u32, values: &[u32; 32]) -> bool {
        let Data::Moved(access) = self.data else { return false };
        let element = element as usize;
        if self.size != 4 || access.width[element] != Width::W32 {
            return false;
        }
        // SAFETY: a load's rows lie in the frame, and this one has 32 words.
        let to = unsafe { &mut *self.frame.add(access.rows[element] as usize).cast::<[u32; 32]>() };
        words::copy(among, values, to);
        true
    }

    /// Gives a load's element this value: to the lane's register, extended as the instruction says. The register may be
    /// the one that the address is in: afterwards [`Self::address`] is not to be asked.
    pub fn supply(&self, lane: usize, element: u32, value: u64) {
        if let Data::Moved(access) = self.data {
            // SAFETY: the load is being executed, in this frame.
            unsafe { supply(self.frame, access, lane, element, value) };
        }
    }

    /// Where a load's values go, to be given later.
    pub(crate) fn registers(&self) -> Option<Registers> {
        let Data::Moved(access) = self.data else { return None };
        Some(Registers { frame: self.frame, access: *access })
    }

    /// What an atomic makes of this value of memory.
    pub fn combine(&self, lane: usize, old: u128) -> u128 {
        let new = self.made_of(lane, old);
        if let Some(made) = self.made {
            made.note(lane, old, new & (u128::MAX >> (128 - 8 * self.size)));
        }
        new
    }

    fn made_of(&self, lane: usize, old: u128) -> u128 {
        let Data::Combined(atomic, flush) = self.data else { return old };
        if let Some(high) = &atomic.high {
            // SAFETY: the atomic is being executed, in this frame.
            return unsafe { combine_wide(atomic, high, (self.frame, self.consts), lane, old) };
        }
        // SAFETY: the loader's rows.
        let operand =
            |i: usize| unsafe { read_lane(row(self.frame, self.consts, atomic.src[i]), atomic.width, lane) };
        combine(atomic, old as u64, operand(0), || operand(1), flush).into()
    }

    /// Whether an atomic may write nothing: a compare that fails.
    pub fn compares(&self) -> bool {
        matches!(self.data, Data::Combined(atomic, _) if atomic.op == AtomOp::Cas)
    }

    /// Gives an atomic's lane the value that it has read. Its operands are not to be asked for afterwards.
    pub fn give_old(&self, lane: usize, old: u128) {
        let Data::Combined(atomic, _) = self.data else { return };
        // SAFETY: the loader's rows.
        unsafe {
            if let Some(high) = &atomic.high {
                give_wide(atomic, high, self.frame, lane, old);
            } else if let Some(dst) = atomic.dst {
                write_lane(self.frame.add(dst as usize), atomic.width, lane, old as u64);
            }
        }
    }
}
