//! What the passes owe that have HiRace look at a module, besides what all such kits owe ([`super::looking`]): every access and every
//! barrier of a warp is told by the right function, once, with the right word.

use bugaroo_device_handlers::hirace::call;

use super::looking::{Looking, barrier, calls};
use super::places::{Judgement, require};
use super::questions::{Term, address};
use super::view::Place;
use crate::collect_sites::PointKind;
use crate::emit::label;
use crate::hirace::names::NAMES;
use crate::hirace::word::word;
use crate::logging::{LogPoint, Told};

/// HiRace.
pub(super) const LOOKING: Looking = Looking { names: &NAMES, functions: &call::ALL, owes };

fn owes(pass: &str, place: &Place<'_>, told: &LogPoint) -> Judgement {
    let looked = label(place.index, "looked");
    match (pass, told.before) {
        ("look-at-accesses", Some(Told::Access(stated))) => {
            let (PointKind::Store { access, .. } | PointKind::Load(access) | PointKind::Atomic(access)) =
                &place.point.kind
            else {
                return require(false, "it is told of what is no access");
            };
            let parameters = [address(access, 0), Term::constant(word(place.index, &stated))];
            calls(&place.before, (call::ACCESS, &parameters), &looked)
        }
        ("look-at-barriers", Some(Told::Meet)) => {
            calls(&place.before, (call::MEET, &[barrier(told)?]), &looked)
        }
        _ => Ok(()),
    }
}
