//! Which races are one: those of the same detector between the same two places of the source, of one kind and class, in one
//! memory space. A loop that is unrolled has many PTX lines of one source line: to its author they are one race.

use bugaroo_protocol::{Detector, HostFrame, Race, RaceClass, RaceKind, RaceParty, SourceLine};

/// Where one of the two accesses stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RacePlace {
    /// A line of the source.
    Source(SourceLine),
    /// A line of the PTX, where the source's is not known.
    Ptx {
        /// The function that it stands in.
        function: String,
        /// The line.
        line: Option<u32>,
    },
    /// A call of the host's.
    Call {
        /// The function that was called.
        function: String,
        /// Who called it: file and offset in there.
        by: Option<(String, u64)>,
    },
}

impl RacePlace {
    /// Where this access stands.
    pub fn of(party: &RaceParty) -> RacePlace {
        match &party.at {
            Some(at) => match &at.source {
                Some(source) => RacePlace::Source(source.clone()),
                None => RacePlace::Ptx { function: at.function.clone(), line: at.ptx_line },
            },
            None => {
                let by = |frame: &HostFrame| (frame.module.clone(), frame.offset);
                RacePlace::Call { function: party.kernel.clone(), by: party.called_at.first().map(by) }
            }
        }
    }
}

/// What races have in common that count as the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RaceKey {
    /// Both places, in the order of the accesses.
    pub places: [RacePlace; 2],
    /// Who found it.
    pub detector: Detector,
    /// What is wrong.
    pub kind: RaceKind,
    /// How far apart.
    pub class: RaceClass,
    /// Whether it is shared memory.
    pub shared: bool,
}

impl RaceKey {
    /// The key of a race.
    pub fn of(race: &Race) -> RaceKey {
        let mut places = [RacePlace::of(&race.first), RacePlace::of(&race.second)];
        if race.kind == RaceKind::WriteWrite {
            // Which of two writes came first is the schedule's doing.
            places.sort();
        }
        let Race { detector, kind, class, shared, .. } = *race;
        RaceKey { places, detector, kind, class, shared }
    }

    /// Both places, in an order that does not depend on the schedule.
    pub fn pair(&self) -> [RacePlace; 2] {
        let mut pair = self.places.clone();
        pair.sort();
        pair
    }
}
