use super::{Layout, fill};

/// Where compilers find some fields in the structures of CUDA 12.9's and 13.0's `driver_types.h`, with the
/// attribute that each shows: from `warpSize` to `unifiedFunctionPointers`.
const PLACES: [(i32, [Option<usize>; 3]); 10] = [
    (10, [Some(308), Some(308), Some(308)]),
    (75, [Some(360), Some(360), Some(360)]),
    (16, [Some(388), Some(388), Some(384)]),
    (30, [Some(568), Some(568), Some(552)]),
    (41, [Some(604), Some(604), Some(588)]),
    (81, [Some(640), Some(640), Some(624)]),
    (95, [Some(688), Some(688), Some(668)]),
    (111, [Some(720), Some(720), Some(696)]),
    (120, [None, Some(772), Some(748)]),
    (129, [None, Some(776), Some(752)]),
];

#[test]
fn fields_lie_where_programs_look_for_them() {
    for (index, layout) in [Layout::V11, Layout::V12, Layout::V13].into_iter().enumerate() {
        let mut bytes = vec![0; layout.size()];
        fill(layout, &mut bytes, 1 << 34, |which| which);
        assert_eq!(bytes[288..296], (1_u64 << 34).to_ne_bytes());
        for (attribute, places) in PLACES {
            if let Some(at) = places[index] {
                assert_eq!(bytes[at..at + 4], attribute.to_ne_bytes(), "attribute {attribute} of {layout:?}");
            }
        }
    }
}
