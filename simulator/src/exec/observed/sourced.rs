//! Accesses under a memory model: which stores are held, and what reads have read, in the order in which the model did it.
//!
//! A hook does an instruction lane by lane, and what else it does in between (older stores become visible, late loads are
//! resolved) comes between these lanes. So where there is anything of the kind, an instruction is told in parts.

use bugaroo_semantics::event::{AccessKind, Event, Values, WriteId};

use super::{Doing, Machine};
use crate::model::notes::Note;

/// What an access is told with.
pub(super) struct Marks {
    pub held: u32,
    /// By element.
    pub own: [u32; 8],
    pub sourced: [u32; 8],
    pub numbered: bool,
    pub numbers: [WriteId; 32],
}

impl Marks {
    /// Nothing of the kind.
    pub const NONE: Marks =
        Marks { held: 0, own: [0; 8], sourced: [0; 8], numbered: false, numbers: [0; 32] };

    /// Whether all elements of the lanes come from the same kind of place.
    pub fn is_alike(&self, mask: u32, elements: u32) -> bool {
        (1..elements as usize).all(|element| {
            let differ = self.own[element] ^ self.own[0] | self.sourced[element] ^ self.sourced[0];
            differ & mask == 0
        })
    }
}

/// What has been noted of the lane at hand.
#[derive(Default)]
struct LaneNotes {
    begun: bool,
    held: bool,
    number: WriteId,
    own: u8,
    sourced: u8,
    /// Something else has happened behind it.
    closes: bool,
}

impl Machine<'_> {
    fn observed_note(&self, note: Note) {
        match note {
            Note::Landed { thread, range, write, last, .. } => self.tell(|machine, _| Event::Landed {
                by: machine.observed_lanes(thread as usize / 32, 1 << (thread % 32)),
                range,
                write,
                last,
            }),
            Note::Read { thread, range, write, .. } => self.tell(|machine, _| Event::ReadFrom {
                by: machine.observed_lanes(thread as usize / 32, 1 << (thread % 32)),
                range,
                write,
            }),
            Note::Held(_) | Note::Own(_) | Note::Sourced(_) | Note::Did(_) => {}
        }
    }

    /// Tells what the model has noted while it did no access.
    pub(in crate::exec) fn observed_notes(&mut self) {
        let Some(notes) = &mut self.hooks.notes else { return };
        if notes.list.is_empty() {
            return;
        }
        let list = std::mem::take(&mut notes.list);
        list.iter().for_each(|note| self.observed_note(*note));
        // Its memory serves the next notes.
        if let Some(notes) = &mut self.hooks.notes {
            notes.list = list;
        }
        self.forget_notes();
    }

    /// All that was noted has been told.
    pub(super) fn forget_notes(&mut self) {
        if let Some(notes) = &mut self.hooks.notes {
            notes.list.clear();
        }
    }

    /// Tells an access that the engine has done for the lanes `run`, and the model for those in `taken`.
    pub(super) fn observed_access(
        &self,
        w: usize,
        doing: &Doing,
        (run, taken): (u32, u32),
        wrote: u32,
        values: &dyn Values,
    ) {
        let Some(watch) = self.hooks.watch.as_ref() else { return };
        let list = match &self.hooks.notes {
            Some(notes) if !notes.list.is_empty() => &notes.list[..],
            _ if run | taken == 0 => return,
            _ => {
                return watch.access(self.observed_lanes(w, run | taken), doing, wrote, values, &Marks::NONE);
            }
        };
        let mut marks = Marks::NONE;
        let (mut group, mut told) = (0, 0);
        let whole = matches!(doing.kind, AccessKind::Atomic(_));
        // What is to be told behind the group; the last of them are of the lane at hand.
        let mut behind: Vec<Note> = Vec::new();
        let mut finished = 0;
        let mut lane_notes = LaneNotes::default();
        let flush = |group: &mut u32, marks: &mut Marks, notes: &[Note]| {
            if *group != 0 {
                watch.access(self.observed_lanes(w, *group), doing, wrote, values, marks);
            }
            notes.iter().for_each(|note| self.observed_note(*note));
            *group = 0;
            *marks = Marks::NONE;
        };
        for note in list {
            match *note {
                Note::Held(number) => {
                    (lane_notes.begun, lane_notes.held, lane_notes.number) = (true, true, number);
                }
                Note::Own(elements) => (lane_notes.begun, lane_notes.own) = (true, lane_notes.own | elements),
                Note::Sourced(elements) => {
                    (lane_notes.begun, lane_notes.sourced) = (true, lane_notes.sourced | elements);
                }
                Note::Landed { own: true, write, last, .. } => {
                    lane_notes.begun = true;
                    lane_notes.held |= !last;
                    lane_notes.number = write;
                    behind.push(*note);
                }
                Note::Read { own: true, .. } => {
                    lane_notes.begun = true;
                    behind.push(*note);
                }
                Note::Landed { .. } | Note::Read { .. } if lane_notes.begun => {
                    lane_notes.closes = true;
                    behind.push(*note);
                }
                Note::Landed { .. } | Note::Read { .. } => {
                    flush(&mut group, &mut marks, &behind);
                    behind.clear();
                    finished = 0;
                    self.observed_note(*note);
                }
                Note::Did(lane) => {
                    let LaneNotes { held, number, own, sourced, closes, .. } =
                        std::mem::take(&mut lane_notes);
                    if !held {
                        // It is visible with its access.
                        let mut index = 0;
                        behind.retain(|note| {
                            index += 1;
                            index <= finished || !matches!(note, Note::Landed { own: true, .. })
                        });
                    }
                    finished = behind.len();
                    marks.held |= u32::from(held) << lane;
                    marks.numbered |= number != 0;
                    marks.numbers[lane as usize] = number;
                    for element in 0..8 {
                        // What an atomic reads is noted as a whole.
                        let of = if whole { 0 } else { element };
                        marks.own[element] |= u32::from(own >> of & 1) << lane;
                        marks.sourced[element] |= u32::from(sourced >> of & 1) << lane;
                    }
                    group |= 1 << lane;
                    told |= 1 << lane;
                    if closes {
                        flush(&mut group, &mut marks, &behind);
                        behind.clear();
                        finished = 0;
                    }
                }
            }
        }
        // The engine reads and writes for its lanes when the model is done.
        group |= (run | taken) & !told;
        flush(&mut group, &mut marks, &behind);
    }
}
