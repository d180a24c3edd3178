use std::time::Duration;

use bugaroo_protocol::{Model, Variation};

use super::{Ground, MINUTE, Plan};
use crate::library::DriverLibrary;
use crate::settings::Settings;
use crate::target::Target;

fn ground(settings: Settings) -> Ground {
    let target = Target::resolve("/bin/sh", vec![]).unwrap();
    Ground::new(target, settings, DriverLibrary::at("/bin/sh".as_ref()).unwrap())
}

fn plan(variation: &Variation, passed_in: Duration) -> Plan<'_> {
    Plan {
        seed: 0,
        variation: Some(variation),
        report_sites: false,
        check_insert: &[],
        conflicts: false,
        reference: None,
        step_budget: None,
        passed_in: Some(passed_in),
        known: None,
        cannot_fork: None,
        warp_synchronous: false,
    }
}

/// The limit follows what trials of the same model have taken, and those at work get more.
#[test]
fn the_limit_adapts_to_the_model() {
    let (ground, second) = (ground(Settings::default()), Duration::from_secs(1));
    let buffers = Variation::default();
    let ptx = Variation { model: Model::Ptx, ..Variation::default() };
    let patience = ground.patience(plan(&buffers, second));
    assert_eq!((patience.limit, patience.most), (MINUTE, 10 * MINUTE));
    assert_eq!(ground.patience(plan(&buffers, 2 * second)).limit, 100 * second);
    ground.longest.lock().unwrap().insert(plan(&ptx, second).pace(), 40 * second);
    assert_eq!(ground.patience(plan(&ptx, second)).limit, 400 * second);
    assert_eq!(ground.patience(plan(&buffers, second)).limit, MINUTE);
}

#[test]
fn the_users_limit_is_the_limit() {
    let second = Duration::from_secs(1);
    let ground = ground(Settings { timeout: Some(second), ..Settings::default() });
    let patience = ground.patience(plan(&Variation::default(), 100 * second));
    assert_eq!((patience.limit, patience.most), (second, second));
}
