//! How large pages and groups are.

/// Bytes of the largest page, as a power of two.
pub(super) const PAGE_SHIFT: u32 = 12;
/// Bytes of the largest page.
pub(super) const PAGE: u64 = 1 << PAGE_SHIFT;
/// Elements that a page has at most, as a power of two.
pub(super) const ELEMENTS_SHIFT: u32 = 10;
/// Elements that a page has at most.
pub(super) const ELEMENTS: usize = 1 << ELEMENTS_SHIFT;
/// Elements of a group, as a power of two.
pub(super) const GROUP_SHIFT: u32 = 4;
/// Elements of a group.
pub(super) const GROUP: usize = 1 << GROUP_SHIFT;
pub(super) const GROUPS: usize = ELEMENTS / GROUP;

/// Bytes of a page with elements of so many bytes, both as powers of two.
#[inline(always)]
pub(super) fn span_shift(shift: u32) -> u32 {
    (ELEMENTS_SHIFT + shift).min(PAGE_SHIFT)
}
