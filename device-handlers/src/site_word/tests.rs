use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn decoding_gives_back_what_was_encoded(
        site: u32, width_log2 in 0u8..4, space in 0usize..3, strong: bool, drains: bool,
        elements_log2 in 0u8..4, element in 0u8..8, slot in 0..SiteWord::MAX_SLOTS,
    ) {
        let space = [BufferSpace::Global, BufferSpace::Shared, BufferSpace::Generic][space];
        let word = SiteWord { site, width_log2, space, strong, drains, elements_log2, element, slot };
        prop_assert_eq!(SiteWord::decode(word.encode()), Some(word));
    }
}

#[test]
fn a_space_that_is_none_is_refused() {
    assert_eq!(SiteWord::decode(3 << SiteWord::SPACE_SHIFT), None);
}
