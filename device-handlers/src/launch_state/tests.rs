use super::*;

#[test]
fn bytes_are_the_struct_as_it_lies_in_memory() {
    let state = LaunchState {
        model: 1,
        features: 2,
        capacity: 3,
        coin_slots: 4,
        thresholds: [5, 6],
        key: 7,
        threads: 8,
        pending: 9,
        ctas: 10,
        taken: 20,
        chunks: 11,
        pool: 12,
        next_chunk: 13,
        chunk_rows: 14,
        pool_chunks: 15,
        coins: 16,
        flags: 17,
        delayed: 18,
        flushes: 19,
    };
    let bytes = state.to_bytes();
    let long = |offset: usize| u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes"));
    assert_eq!(long(0), 2 << 32 | 1);
    assert_eq!(long(std::mem::offset_of!(LaunchState, thresholds) + 8), 6);
    assert_eq!(long(std::mem::offset_of!(LaunchState, chunk_rows)), 15 << 32 | 14);
    assert_eq!(long(std::mem::offset_of!(LaunchState, coins)), 16);
    assert_eq!(long(std::mem::offset_of!(LaunchState, flushes)), 19);
    assert_eq!(LaunchState::BYTES, std::mem::offset_of!(LaunchState, flushes) + 8);
}

#[test]
fn nothing_to_do_is_the_state_that_a_module_starts_with() {
    let layout = Layout::new((2, 32), 3, 256, 1 << 30);
    let state = LaunchState::new(HandlerModel::Bugaroo, (0.0, 0.0), (1, 2), &layout, 4096, None);
    assert_eq!(state.to_bytes(), [0; LaunchState::BYTES]);
}

#[test]
fn features_follow_from_what_is_asked() {
    let layout = Layout::new((2, 32), 3, 256, 1 << 30);
    let features = |model, pw, flags| LaunchState::new(model, pw, (1, 2), &layout, 4096, flags).features;
    assert_eq!(features(HandlerModel::StoreBuffer, (0.5, 0.0), None), Features::ROUTE);
    assert_eq!(features(HandlerModel::Bugaroo, (0.0, 0.5), None), Features::ROUTE | Features::RESTORE);
    assert_eq!(features(HandlerModel::Bugaroo, (0.0, 0.0), Some(512)), Features::FLAGS);
}
