//! What arrivals, copies and waits do to the phases of mbarriers.
//!
//! Source: PTX ISA, "mbarrier". A copy's bytes are counted at once when it is issued: bytes may be counted before they are
//! expected (the pending bytes are a signed number), so that when they come makes no difference to which phase they belong
//! to, as long as the phase cannot complete without them: whoever expects bytes must have done so before one of the phase's
//! arrivals.

use super::mbarrier::{Before, Counts, Mbarrier, Present, Users, Waits};
use super::observer::Observer;
use super::part::Part;
use super::runner::State;
use super::state::Machine;
use crate::program::{Completion, Opcode, Packed, SharedAccessKind};
use crate::verdict::{Generation, Misuse, Recycling, RecyclingRule, Resource};

impl Machine<'_> {
    pub(super) fn mbarrier_step<O: Observer>(
        &mut self,
        chain: u32,
        command: &Packed,
        index: u32,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        let address = command.a;
        if command.opcode() == Opcode::MbarrierInit {
            return self.initialise(chain, command, index);
        }
        if command.opcode() == Opcode::MbarrierInval && command.flag() {
            // By one of several: even its own thread knows of it only when it has met the others.
            let registrations = &mut self.runners[chain as usize].registrations;
            *registrations += 1;
            let stamp = if self.program.warp_synchronous() { index + 1 } else { *registrations };
            let part = Part { chain, stamp, command: index, waits: false, orders: false };
            self.mbarrier(address).users.ended.push(part);
            return Ok(());
        }
        self.check_initialised(chain, index, address)?;
        let lanes = i64::from((command.lanes & self.layout.chains[chain as usize].lanes).count_ones());
        match command.opcode() {
            Opcode::MbarrierInval => {
                let part = self.part(chain, index, false);
                self.check_all_used(chain, address, index)?;
                let mbarrier = self.mbarrier(address);
                mbarrier.init = None;
                mbarrier.users.used = vec![part];
                return Ok(());
            }
            Opcode::MbarrierWait => {
                self.mbarrier_wait(chain, command, index, observer);
                return Ok(());
            }
            Opcode::MbarrierArrive => {
                self.check_phase(chain, index, address);
                let part = self.part(chain, index, command.b != 0);
                let mbarrier = self.mbarrier(address);
                mbarrier.counts.bytes += lanes * i64::from(command.c);
                mbarrier.counts.pending -= lanes * i64::from(command.b);
                if command.drops() {
                    mbarrier.counts.expected -= lanes * i64::from(command.b);
                }
                if command.b == 0 {
                    mbarrier.present.before_arrival.push(part);
                } else {
                    self.arrive(chain, part, address, command.is_relaxed());
                }
            }
            Opcode::MbarrierCompleteTx => {
                self.check_phase(chain, index, address);
                let part = self.part(chain, index, false);
                let mbarrier = self.mbarrier(address);
                mbarrier.counts.bytes -= lanes * i64::from(command.b);
                mbarrier.present.parts.push(part);
            }
            _ => {
                // cp.async.mbarrier.arrive: the arrival stands for the copies; what else the thread did it does not release.
                self.check_phase(chain, index, address);
                let group = self.layout.chains[chain as usize].groups[0];
                let state = &mut self.runners[chain as usize].copies.groups[0];
                state.epoch += 1;
                let epoch = state.epoch;
                let part = self.part(chain, index, false);
                // That the copies are over says that they were issued, and what their thread waited for before; memory does not follow.
                let mut fenced = std::mem::take(&mut self.mbarrier(address).present.known.fenced);
                self.join_time(chain, part.stamp, &mut fenced);
                let mbarrier = self.mbarrier(address);
                mbarrier.present.known.fenced = fenced;
                mbarrier.present.parts.push(part);
                if let Some(component) = group {
                    let slot = &mut mbarrier.present.known.clock[component as usize];
                    *slot = (*slot).max(epoch);
                }
                if command.flag() {
                    mbarrier.counts.pending -= lanes;
                } else {
                    mbarrier.present.before_arrival.push(part);
                }
            }
        }
        if self.mbarrier(address).counts.pending < 0 {
            return Err(Misuse::TooManyArrivals {
                resource: Resource::Mbarrier { address },
                generation: self.mbarrier(address).phase + 1,
                place: self.place(chain, index),
            });
        }
        self.advance_mbarrier(address, observer)
    }

    fn mbarrier(&mut self, address: u32) -> &mut Mbarrier {
        let layout = self.layout;
        self.mbarriers
            .entry(address)
            .or_insert_with(|| Mbarrier { component: layout.mbarriers[&address], ..Mbarrier::default() })
    }

    fn part(&mut self, chain: u32, command: u32, orders: bool) -> Part {
        Part { chain, stamp: self.stamp(chain, command), command, waits: false, orders }
    }

    fn arrive(&mut self, chain: u32, part: Part, address: u32, relaxed: bool) {
        let mbarrier = self.mbarrier(address);
        mbarrier.present.parts.push(part);
        let mut known = std::mem::take(&mut mbarrier.present.known);
        self.contribute(chain, (part.stamp, !relaxed), &mut known);
        if relaxed {
            self.contribute_released(chain, &mut known);
            let mut before = std::mem::take(&mut self.mbarrier(address).present.before_relaxed);
            self.gather_time(chain, part.stamp, &mut before);
            self.mbarrier(address).present.before_relaxed = before;
        }
        self.mbarrier(address).present.known = known;
    }

    fn initialise(&mut self, chain: u32, command: &Packed, index: u32) -> Result<(), Misuse> {
        let address = command.a;
        let known = self.nothing();
        self.check_all_used(chain, address, index)?;
        let lanes = (command.lanes & self.layout.chains[chain as usize].lanes).count_ones();
        let part = self.part(chain, index, false);
        if lanes > 1 {
            // Several threads, one object: of two inits, each may come after uses of the other.
            let place = self.place(chain, index);
            return Err(Misuse::InitialisedAgain { address, place, earlier: place });
        }
        let mbarrier = self.mbarrier(address);
        // The component goes on counting, so that phases of an earlier life stay known.
        let life = mbarrier.phase.next_multiple_of(2);
        let expected = i64::from(command.b);
        *mbarrier = Mbarrier {
            init: Some(part),
            component: mbarrier.component,
            phase: life,
            counts: Counts { expected, pending: expected, bytes: 0 },
            present: Present { known, ..Present::default() },
            before: Before::default(),
            waits: Waits { ever: mbarrier.waits.ever, ..Waits::default() },
            users: Users { used: vec![part], ended: Vec::new() },
        };
        Ok(())
    }

    /// A new life needs the old one's users to be done.
    fn check_all_used(&mut self, chain: u32, address: u32, index: u32) -> Result<(), Misuse> {
        let Some(mbarrier) = self.mbarriers.get(&address) else {
            return Ok(());
        };
        match mbarrier.all_users().find(|p| !self.knows(chain, p)) {
            None => Ok(()),
            Some(part) => Err(Misuse::InitialisedAgain {
                address,
                place: self.place(chain, index),
                earlier: self.place(part.chain, part.command),
            }),
        }
    }

    fn check_initialised(&mut self, chain: u32, index: u32, address: u32) -> Result<(), Misuse> {
        let init = self.mbarrier(address).init;
        match init {
            Some(part) if self.knows(chain, &part) || self.knows_init(chain, &part) => Ok(()),
            part => Err(Misuse::NotInitialised {
                address,
                place: self.place(chain, index),
                init: part.map(|p| self.place(p.chain, p.command)),
            }),
        }
    }

    /// An asynchronous copy must see an `mbarrier.init` by way of a proxy fence. One by the copy's own thread is let pass: libraries
    /// leave that fence out.
    fn check_init_fenced(&mut self, chain: u32, index: u32, address: u32) -> Result<(), Misuse> {
        let Some(init) = self.mbarrier(address).init.filter(|init| init.chain != chain) else {
            return Ok(());
        };
        let fenced = self.runners[chain as usize].known.fenced.get(init.chain as usize);
        if fenced.is_some_and(|fenced| *fenced >= init.stamp) || self.knows_init(chain, &init) {
            return Ok(());
        }
        let (place, init) = (self.place(chain, index), self.place(init.chain, init.command));
        Err(Misuse::InitNotFenced { address, place, init })
    }

    /// Whether a chain knows of an `mbarrier.init` by a fence of it.
    fn knows_init(&self, chain: u32, init: &Part) -> bool {
        let fenced = self.runners[chain as usize].known.fenced.get(self.layout.inits_of(init.chain));
        fenced.is_some_and(|fenced| *fenced >= init.stamp)
    }

    /// Whether a chain knows that all phases before `phase` are over; else its participants that it doesn't know.
    fn unknown_of(&self, chain: u32, mbarrier: &Mbarrier, back: usize) -> Vec<Part> {
        let Some(phase) = mbarrier.phase.checked_sub(back as u32 + 1) else {
            return Vec::new();
        };
        let runner = &self.runners[chain as usize];
        if runner.known.clock[mbarrier.component as usize] > phase
            || self.in_time(&runner.known.fenced, mbarrier.component) > phase
        {
            return Vec::new();
        }
        // That a copy was issued does not say that it is over.
        let parts = &mbarrier.before.parts[back];
        parts.iter().filter(|p| !p.orders || !self.knows_in_time(chain, p)).copied().collect()
    }

    /// Rule: who registers for a phase knows that the one before is complete. `back` 1: one earlier, for waits that need not
    /// block.
    fn check_earlier(&mut self, chain: u32, index: u32, address: u32, back: usize) {
        let mbarrier = &self.mbarriers[&address];
        let unordered = self.unknown_of(chain, mbarrier, back);
        if unordered.is_empty() {
            return;
        }
        self.report_recycling(|machine| {
            let mbarrier = &machine.mbarriers[&address];
            let number = mbarrier.phase - back as u32;
            let runner = &machine.runners[chain as usize];
            Recycling {
                earlier: Generation {
                    resource: Resource::Mbarrier { address },
                    number,
                    participants: machine.participants(&mbarrier.before.parts[back]),
                },
                later: number + 1,
                place: machine.place(chain, index),
                knows_from: runner.last_wait.map(|c| machine.place(chain, c)),
                unordered: machine.participants(&unordered),
                rule: RecyclingRule::EarlierComplete,
                count: 1,
            }
        });
    }

    fn check_phase(&mut self, chain: u32, index: u32, address: u32) {
        self.check_earlier(chain, index, address, 0);
    }

    /// Counts a copy's bytes; says which phase it belongs to.
    pub(super) fn complete_copy<O: Observer>(
        &mut self,
        chain: u32,
        command: &Packed,
        index: u32,
        address: u32,
        _observer: &mut O,
    ) -> Result<(u32, u32), Misuse> {
        self.check_initialised(chain, index, address)?;
        if matches!(command.completion(), Completion::Mbarrier { .. }) {
            self.check_init_fenced(chain, index, address)?;
        }
        self.check_phase(chain, index, address);
        let part = self.part(chain, index, false);
        let lanes = i64::from((command.lanes & self.layout.chains[chain as usize].lanes).count_ones());
        // That the copy is over says that it was issued, and what its thread waited for before; memory does not follow.
        let mut fenced = std::mem::take(&mut self.mbarrier(address).present.known.fenced);
        self.join_time(chain, part.stamp, &mut fenced);
        let mbarrier = self.mbarrier(address);
        mbarrier.present.known.fenced = fenced;
        // What a copy from shared memory reads is over with what it writes, which is counted.
        if command.kind() != SharedAccessKind::Read {
            mbarrier.counts.bytes -= lanes * i64::from(command.size());
        }
        mbarrier.present.parts.push(part);
        Ok((mbarrier.component, mbarrier.phase))
    }

    fn mbarrier_wait<O: Observer>(&mut self, chain: u32, command: &Packed, index: u32, observer: &mut O) {
        let address = command.a;
        let blocks = self.mbarrier(address).phase % 2 == command.b;
        self.check_earlier(chain, index, address, usize::from(!blocks));
        let part = Part { waits: true, ..self.part(chain, index, false) };
        let mbarrier = self.mbarrier(address);
        mbarrier.waits.ever = true;
        if blocks {
            mbarrier.waits.waiting.push((chain, part, command.b));
            let component = mbarrier.component;
            self.runners[chain as usize].state = State::AtMbarrier(component);
        } else {
            self.pass_mbarrier(chain, part, address, observer);
        }
    }

    fn pass_mbarrier<O: Observer>(&mut self, chain: u32, part: Part, address: u32, observer: &mut O) {
        let mbarrier = self.mbarrier(address);
        mbarrier.waits.saw_last.push(part);
        if !mbarrier.before.known.clock.is_empty() {
            observer.passed(Resource::Mbarrier { address }, &part);
        }
        let known = std::mem::take(&mut self.mbarrier(address).before.known);
        let warp = self.layout.chains[chain as usize].warp;
        let is_relaxed = self.program.warps()[warp as usize].packed()[part.command as usize].is_relaxed();
        if is_relaxed {
            self.see(chain, &known);
        } else {
            self.runners[chain as usize].known.join(&known);
        }
        self.runners[chain as usize].last_wait = Some(part.command);
        self.mbarrier(address).before.known = known;
    }

    /// Ends the phase if nothing is pending.
    pub(super) fn advance_mbarrier<O: Observer>(
        &mut self,
        address: u32,
        observer: &mut O,
    ) -> Result<(), Misuse> {
        let mbarrier = self.mbarrier(address);
        if mbarrier.counts.pending != 0 || mbarrier.counts.bytes != 0 || mbarrier.init.is_none() {
            return Ok(());
        }
        let phase = mbarrier.phase;
        if let Some(part) = self.mbarriers[&address].late() {
            return Err(Misuse::LateExpectTx { address, phase, place: self.place(part.chain, part.command) });
        }
        let mbarrier = &self.mbarriers[&address];
        let known = |part: &&Part| {
            mbarrier.present.known.clock[part.chain as usize] >= part.stamp
                || self.in_time(&mbarrier.present.known.fenced, part.chain) >= part.stamp
        };
        let overtaken: Vec<Part> = mbarrier.waits.saw_last.iter().filter(|p| !known(p)).copied().collect();
        for part in overtaken {
            self.report_overtaken(address, part);
        }
        let mbarrier = self.mbarrier(address);
        let component = mbarrier.component as usize;
        mbarrier.present.known.clock[component] = mbarrier.present.known.clock[component].max(phase + 1);
        let resource = Resource::Mbarrier { address };
        observer.completed(resource, phase + 1, &mbarrier.present.parts);
        let waiting = mbarrier.end_phase();
        self.uses.completed += 1;
        for (chain, part, parity) in waiting {
            if phase % 2 == parity {
                self.pass_mbarrier(chain, part, address, observer);
                self.runners[chain as usize].state = State::Ready;
                self.ready.push_back(chain);
            } else {
                self.mbarrier(address).waits.waiting.push((chain, part, parity));
            }
        }
        Ok(())
    }

    /// Rule: a wait for a phase comes before the next phase completes.
    fn report_overtaken(&mut self, address: u32, part: Part) {
        self.report_recycling(|machine| {
            let mbarrier = &machine.mbarriers[&address];
            Recycling {
                earlier: Generation {
                    resource: Resource::Mbarrier { address },
                    number: mbarrier.phase,
                    participants: machine.participants(&mbarrier.before.parts[0]),
                },
                later: mbarrier.phase + 1,
                place: machine.place(part.chain, part.command),
                knows_from: None,
                unordered: machine.participants(&mbarrier.present.parts),
                rule: RecyclingRule::WaitBeforeNext,
                count: 1,
            }
        });
    }

    /// In the end, of phases that have all arrivals and do not complete for their bytes: whether they could in another order.
    pub(crate) fn bytes_in_the_end(&self) -> Option<Misuse> {
        let stuck =
            |(_, m): &(&u32, &Mbarrier)| m.init.is_some() && m.counts.pending == 0 && m.counts.bytes != 0;
        let mut stuck: Vec<_> = self.mbarriers.iter().filter(stuck).collect();
        stuck.sort_by_key(|(address, _)| **address);
        let misuse = |(&address, mbarrier): (&u32, &Mbarrier)| {
            let phase = mbarrier.phase;
            let late = mbarrier.late().map(|p| Misuse::LateExpectTx {
                address,
                phase,
                place: self.place(p.chain, p.command),
            });
            late.or_else(|| {
                let last = mbarrier
                    .present
                    .parts
                    .iter()
                    .rfind(|p| !p.orders)
                    .filter(|_| mbarrier.counts.bytes < 0)?;
                Some(Misuse::TooManyBytes {
                    address,
                    phase,
                    bytes: mbarrier.counts.bytes.unsigned_abs(),
                    place: self.place(last.chain, last.command),
                })
            })
        };
        stuck.into_iter().find_map(misuse)
    }

    /// Of an mbarrier that a chain waits at: its phase, arrivals that came and that it takes, bytes missing.
    pub(super) fn mbarrier_standing(&self, component: u32) -> (u32, u32, u32, u32, i64) {
        let found = self.mbarriers.iter().find(|(_, m)| m.component == component);
        found.map_or((0, 0, 0, 0, 0), |(address, m)| {
            let arrived = (m.counts.expected - m.counts.pending).max(0) as u32;
            (*address, m.phase + 1, arrived, m.counts.expected as u32, m.counts.bytes)
        })
    }
}
