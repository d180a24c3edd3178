//! What is written is read back the same, and what is of another version is refused.

use std::collections::BTreeSet;

use bugaroo_protocol::{
    Backend, DelayedSpace, Detector, FromServer, Inserted, Insertion, LaunchEnd, MemoryPiece, Message, Model,
    NumberSpan, Orders, OrdersError, Position, RaceSettings, Scheduler, ScordLayout, ScordWidths, Side,
    SiteId, SourceSpan, ToServer, VERSION, Variation,
};
use proptest::prelude::*;

fn site() -> impl Strategy<Value = SiteId> {
    (any::<u32>(), any::<u32>()).prop_map(|(module, index)| SiteId { module, index })
}

fn insertion(site: &SiteId) -> Insertion {
    let from = Position { line: site.module, column: site.index };
    let to = Position { line: site.index, column: site.module };
    let (side, what) = match site.index % 3 {
        0 => (Side::Before, Inserted::Fence),
        1 => (Side::Behind, Inserted::BlockFence),
        _ => (Side::Behind, Inserted::WarpBarrier),
    };
    Insertion { span: SourceSpan { file: format!("a \"{site}\".cu"), from, to }, side, what }
}

/// Some settings, of whatever form.
fn race_settings(seed: u64) -> RaceSettings {
    let bit = |at: u32| seed >> at & 1 != 0;
    let mut settings = RaceSettings::default();
    if bit(3) {
        settings.watch.kernels = vec![format!("^k{seed}\"")];
        settings.watch.variables = vec!["a::b".to_owned()];
        settings.watch.addresses = vec![NumberSpan(seed / 2..seed / 2 + 1)];
        settings.watch.one_block_in = Some(1 + seed / 2);
    }
    if bit(4) {
        settings.limits.shadow = Some(1 << (20 + seed % 20));
        settings.hirace.block_clock = Some(1 + (seed % 24) as u32);
    }
    settings.scord.layout = match (bit(5), bit(6)) {
        (false, _) => ScordLayout::Fit,
        (true, false) => ScordLayout::Paper,
        (true, true) => {
            ScordLayout::Given(ScordWidths { block: 12, warp: 5, bloom: 8, ..ScordWidths::default() })
        }
    };
    settings.scord.cache = bit(7).then_some(4);
    settings
}

fn orders() -> impl Strategy<Value = Orders> {
    let model = prop_oneof![
        Just(None),
        Just(Some(Model::Bugaroo)),
        Just(Some(Model::StoreBuffer)),
        Just(Some(Model::Ptx))
    ];
    let space = prop_oneof![Just(DelayedSpace::Both), Just(DelayedSpace::Shared), Just(DelayedSpace::Global)];
    let sites = || prop::collection::btree_set(site(), 0..5);
    (
        (any::<u64>(), model, 0.0f64..=1.0, 1u32.., space, proptest::option::of(".*")),
        (
            sites(),
            sites(),
            sites(),
            proptest::option::of(any::<u64>()),
            any::<bool>(),
            any::<bool>(),
            any::<i32>(),
        ),
    )
        .prop_map(
            |(
                (seed, model, pw, buffer, space, kernel),
                (without, with, narrow, step_budget, report_sites, digest, fd),
            )| Orders {
                injects: model.is_some(),
                variation: Variation {
                    model: model.unwrap_or(Model::StoreBuffer),
                    pw,
                    pr: 0.5,
                    model_memory: 1 << 30,
                    buffer,
                    space,
                    kernel,
                    without_fence: without,
                    with_fence: with,
                    insert: narrow.iter().map(insertion).collect(),
                    widen: narrow.clone(),
                    narrow_fence: narrow.clone(),
                    handlers: seed % 2 == 0,
                    scheduler: if seed % 3 == 0 { Scheduler::Pct } else { Scheduler::Random },
                    pct_depth: 1 + u32::try_from(seed % 7).expect("it is small"),
                    coverage: seed % 2 == 0,
                    hold: (seed % 3 == 1).then_some(7),
                    switches: if seed % 4 == 1 { vec![7, 9] } else { Vec::new() },
                    swarm: seed % 5 == 2,
                    race: Detector::ALL.into_iter().take((seed % 5) as usize).collect(),
                    race_settings: race_settings(seed),
                    by_turns: seed % 2 == 1,
                    within_blocks: seed % 3 == 2,
                    turns: None,
                },
                version: VERSION,
                seed,
                check_insert: narrow.iter().map(insertion).collect(),
                warp_synchronous: seed % 2 == 0,
                backend: Backend::Sim,
                devices: 1 + u32::try_from(seed % 3).expect("it is small"),
                real_driver: None,
                step_budget,
                report_sites,
                digest,
                ends: seed % 5 == 1,
                conflicts: seed % 2 == 1,
                launches: seed % 2 == 0,
                cache: None,
                report_fd: fd,
                fork_server: None,
            },
        )
}

proptest! {
    #[test]
    fn orders_come_back_as_they_went(orders in orders()) {
        prop_assert_eq!(Orders::from_json(&orders.to_json()).expect("its own JSON"), orders);
    }

    #[test]
    fn orders_of_another_version_are_refused_whatever_else_they_hold(version in any::<u32>()) {
        prop_assume!(version != VERSION);
        let text = format!(r#"{{"version": {version}, "something": ["new"]}}"#);
        match Orders::from_json(&text) {
            Err(OrdersError::Version { theirs }) => prop_assert_eq!(theirs, version),
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn what_goes_between_harness_and_fork_server_comes_back(
        id in any::<u64>(), status in any::<i32>(), pid in any::<u32>(), text in ".*",
    ) {
        for message in [ToServer::Trial { id, orders: &text }, ToServer::Kill { id }, ToServer::GoOn] {
            let bytes = message.to_bytes();
            prop_assert_eq!(ToServer::from_bytes(&bytes), Some(message));
        }
        for message in [
            FromServer::Ready { pid, wrote: id, children_wrote: id / 3 },
            FromServer::Cannot { why: text.clone() },
            FromServer::Ended { id, status },
            FromServer::Failed { id, why: text.clone() },
        ] {
            prop_assert_eq!(FromServer::from_bytes(&message.to_bytes()), Some(message));
        }
    }

    #[test]
    fn no_bytes_make_messages_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = (ToServer::from_bytes(&bytes), FromServer::from_bytes(&bytes));
    }

    #[test]
    fn no_text_makes_orders_panic(text in ".*") {
        let _ = Orders::from_json(&text);
    }

    #[test]
    fn sites_are_read_as_they_are_printed(site in site()) {
        prop_assert_eq!(site.to_string().parse::<SiteId>(), Ok(site));
    }
}

#[test]
fn a_site_of_the_first_module_is_a_plain_number() {
    assert_eq!(SiteId { module: 0, index: 17 }.to_string(), "17");
    assert_eq!(SiteId { module: 2, index: 17 }.to_string(), "2.17");
    for wrong in ["", "x", "1.", ".1", "-1", "1.2.3", "4294967296"] {
        let error = wrong.parse::<SiteId>().expect_err(wrong);
        assert!(error.to_string().contains("`bugaroo sites`"), "{error}");
    }
}

#[test]
fn a_message_is_one_line_that_says_what_it_is() {
    let message = Message::Launch(bugaroo_protocol::Launch {
        ordinal: 3,
        kernel: "dot\n".to_owned(),
        grid: [32, 1, 1],
        block: [256, 1, 1],
        end: LaunchEnd::Complete,
        counts: bugaroo_protocol::LaunchCounts {
            fences: 64,
            flush_lengths: bugaroo_protocol::FlushLengths {
                global: [(1, 20), (300, 1)].into(),
                shared: [(2, 3)].into(),
            },
            ..Default::default()
        },
        stale_reads: Vec::new(),
        conflicts: Vec::new(),
        more_conflicts: 0,
        coverage: Vec::new(),
        more_coverage: 0,
        meetings: Vec::new(),
        digest: Some("00ff".to_owned()),
    });
    let line = serde_json::to_string(&message).expect("plain data");
    assert!(!line.contains('\n') && line.contains(r#""message":"launch""#), "{line}");
    assert_eq!(serde_json::from_str::<Message>(&line).expect("its own JSON"), message);
    let sites: BTreeSet<SiteId> = serde_json::from_str(r#"["1", "2.3"]"#).expect("sites are strings");
    assert_eq!(sites.len(), 2);
}

#[test]
fn what_memory_held_is_said_alike() {
    let end = |piece, allocated_at| bugaroo_protocol::MemoryEnd {
        piece,
        bytes: 1 << 40,
        digest: "00ff".to_owned(),
        allocated_at,
    };
    let frame = bugaroo_protocol::HostFrame {
        function: Some("main\n".to_owned()),
        module: "a \"b\"".to_owned(),
        offset: u64::MAX,
        source: None,
    };
    let message = Message::Ends {
        ends: vec![
            end(MemoryPiece::Allocation(1), vec![frame]),
            end(MemoryPiece::Variable(2, "_Z5count".to_owned()), Vec::new()),
        ],
        last: true,
    };
    let line = serde_json::to_string(&message).expect("plain data");
    assert!(!line.contains('\n') && line.contains(r#""message":"ends""#), "{line}");
    assert_eq!(serde_json::from_str::<Message>(&line).expect("its own JSON"), message);
}
