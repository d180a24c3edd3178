//! `wgmma`: what a warpgroup reads of shared memory, and which registers it works on (PTX ISA, "Asynchronous Warpgroup Level Matrix
//! Instructions").
//!
//! Each of the four warps reads its own 16 rows of A and all of B, which is how the ISA shares the matrices out among the warps' registers.
//! The reads are those of the asynchronous proxy; they are over for whoever of the warpgroup has waited for their group. What is computed
//! is not known.
//!
//! Registers of a multiplication under way must be left alone until it has been waited for. Moves from one register to another are
//! allowed, as compilers put them between multiplications of one sum and take them away again.
//!
//! # What it can miss
//! Registers are not watched in the arms of branches on unknown values. `wgmma.fence` is asked for before the first multiplication of a warp, not before each that follows other accesses of its registers. Whether
//! all warps of a warpgroup execute the same multiplications: [`super::alike`].

use bugaroo_ptx::op::Wgmma;
use bugaroo_simulator::alu::Width;
use bugaroo_simulator::decoded::{Factor, Inst, Kind, Warpgroup};

use super::alike::Product;
use super::descriptor::Descriptor;
use super::held::warp::{Flow, State};
use super::machine::Machine;
use super::memory::Touched;
use super::refusal::Refusal;
use super::registers::{Why, lanes};
use super::text::Form;
use crate::program::{CommandAction, Completion, GroupKind, SharedAccessKind};

/// Warps of a warpgroup.
const WARPS: u32 = 4;
/// Rows of A that a warp has.
const ROWS: u32 = 16;

impl Machine<'_> {
    /// One such instruction of a fragment's active lanes, which waits for the whole warp.
    pub fn warpgroup(
        &mut self,
        w: usize,
        fragment: usize,
        pc: u32,
        active: u32,
        warpgroup: &Warpgroup,
    ) -> Result<Flow, Refusal> {
        let lane = active.trailing_zeros() as usize;
        let (index, alive) = (self.warps[w].own.index, self.warps[w].alive);
        let threads: u32 = self.set.extent.block.iter().product();
        if (index / WARPS + 1) * WARPS * 32 > threads {
            let message = "the warp has no three others with which it makes a warpgroup";
            return Err(self.illegal(w, pc, lane, message));
        }
        if active != alive {
            let part = self.warps[w].isolate(fragment, active, active);
            self.warps[w].fragments[part].state = State::Converging;
            self.converge(w);
            return Ok(Flow::Select);
        }
        let frame = self.warps[w].fragments[fragment].frame;
        match warpgroup {
            Warpgroup::Fence => self.warps[w].multiplying.fenced = true,
            Warpgroup::Commit => {
                self.emit(w, active, pc, CommandAction::CommitGroup(GroupKind::Wgmma))?;
                let multiplying = &mut self.warps[w].multiplying;
                multiplying.committed.push(std::mem::take(&mut multiplying.open));
            }
            Warpgroup::Wait { keep } => {
                self.emit(w, active, pc, CommandAction::WaitGroup(GroupKind::Wgmma, *keep))?;
                let committed = &mut self.warps[w].multiplying.committed;
                let done = committed.len().saturating_sub(*keep as usize);
                committed.drain(..done);
            }
            Warpgroup::Multiply { wgmma, d, a, b, transposed, .. } => {
                self.multiply(w, frame, pc, active, (wgmma, *transposed), (d, a, *b))?;
            }
        }
        Ok(Flow::Next)
    }

    /// Lets lanes go on together who have waited for each other at one instruction.
    pub fn converge(&mut self, w: usize) {
        let warp = &mut self.warps[w];
        let waits = |f: &super::held::warp::Fragment| f.state == State::Converging;
        let here = warp.fragments.iter().filter(|f| waits(f)).fold(0, |all, f| all | f.mask);
        let mut places = warp.fragments.iter().filter(|f| waits(f)).map(|f| (f.pc, f.frame));
        let first = places.next();
        if here == 0 || here != warp.alive || places.any(|place| Some(place) != first) {
            return;
        }
        warp.fragments.iter_mut().for_each(|f| f.state = State::Ready);
    }

    fn multiply(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        active: u32,
        (wgmma, transposed): (&Wgmma, [bool; 2]),
        (d, a, b): (&[Option<u32>], &Factor, i32),
    ) -> Result<(), Refusal> {
        let lane = active.trailing_zeros() as usize;
        if !self.warps[w].multiplying.fenced {
            let message = "a multiplication without a wgmma.fence before it: its registers may be in use";
            return Err(self.illegal(w, pc, lane, message));
        }
        let first_matrix = match a {
            Factor::Shared(slot) => {
                let first = self.warps[w].own.index % WARPS * ROWS;
                Some(self.read_matrix(w, frame, pc, active, *slot, ([first, first + ROWS], transposed[0]))?)
            }
            Factor::Fragment(slots) => {
                for slot in slots {
                    if let Ok(row) = u32::try_from(*slot) {
                        self.warps[w].multiplying.open.factors.insert((frame, row));
                    }
                }
                None
            }
        };
        let b = self.read_matrix(w, frame, pc, active, b, ([0, u32::from(wgmma.n)], transposed[1]))?;
        self.multiplies_alike(w, lane, Product { pc, a: first_matrix, b })?;
        for row in d.iter().flatten() {
            self.calls.frames[frame as usize].registers.mark(*row, active, 0, Why::at(pc));
            self.warps[w].multiplying.open.results.insert((frame, *row));
        }
        Ok(())
    }

    /// Checks that a warp does what the others of its warpgroup do.
    fn multiplies_alike(&mut self, w: usize, lane: usize, product: Product) -> Result<(), Refusal> {
        if self.ways.doubt.depth > 0 {
            return Ok(());
        }
        let (cta, index) = (self.warps[w].own.cta as usize, self.warps[w].own.index);
        let (number, products) = ((index / WARPS) as usize, &mut self.ctas[cta].products);
        if products.len() <= number {
            products.resize_with(number + 1, Default::default);
        }
        let Err(other) = products[number].next((index % WARPS) as usize, product) else { return Ok(()) };
        let message = if other.pc == product.pc {
            "warps of one warpgroup name different matrices in one multiplication"
        } else {
            "warps of one warpgroup execute different multiplications"
        };
        Err(self.illegal(w, product.pc, lane, message))
    }

    /// The reads of a matrix by its descriptor, shared out among the lanes; answers what the descriptor is.
    fn read_matrix(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        active: u32,
        slot: i32,
        (lines, transposed): ([u32; 2], bool),
    ) -> Result<u64, Refusal> {
        let what = "the descriptor of a matrix in shared memory";
        let mut descriptor = None;
        for lane in lanes(active) {
            let bits = self.needed(w, frame, pc, lane, (slot, Width::W64), what)?;
            if *descriptor.get_or_insert(bits) != bits {
                return Err(self.illegal(w, pc, lane, "threads of one warp name different matrices"));
            }
        }
        let bits = descriptor.expect("a multiplication is executed by all lanes of a warp that has some");
        let rank = self.warps[w].own.cta;
        let mut ranges = Descriptor::new(bits).bytes(lines, transposed);
        ranges.sort_by_key(|[from, to]| (to - from, *from));
        let first = active.trailing_zeros() as usize;
        for alike in ranges.chunk_by(|a, b| a[1] - a[0] == b[1] - b[0]) {
            for some in alike.chunks(active.count_ones() as usize) {
                let mut touched = Touched::none();
                let bytes = some[0][1] - some[0][0];
                for ([at, _], lane) in some.iter().zip(lanes(active)) {
                    self.inside(w, pc, first, (rank, u64::from(*at)), u64::from(bytes), 16)?;
                    touched.add(lane, rank, u64::from(*at));
                }
                let completion = Completion::Group(GroupKind::Wgmma);
                self.copy_command(w, pc, SharedAccessKind::Read, bytes, &touched, completion)?;
            }
        }
        Ok(bits)
    }

    /// Checks that an instruction leaves the registers of multiplications under way alone.
    #[cold]
    pub fn leaves_alone(
        &mut self,
        w: usize,
        frame: u32,
        pc: u32,
        inst: &Inst,
        active: u32,
    ) -> Result<(), Refusal> {
        let (reads, writes) = self.registers_of(pc, inst);
        let multiplying = &mut self.warps[w].multiplying;
        let row = |slot: &i32| u32::try_from(*slot).ok().map(|row| (frame, row));
        let read = reads.iter().filter_map(row).find(|row| multiplying.has_result(*row));
        let is_move =
            inst.kind == Kind::Alu && self.set.code.extras[pc as usize].arithmetic.form == Form::Copy;
        if let (Some(from), true) = (read, is_move) {
            if let Some(to) = writes.iter().find_map(row) {
                let all = multiplying.committed.iter_mut().chain(std::iter::once(&mut multiplying.open));
                all.filter(|rows| rows.results.contains(&from)).for_each(|rows| {
                    rows.results.insert(to);
                });
            }
            return Ok(());
        }
        let written = writes.iter().filter_map(row).find(|row| multiplying.has(*row));
        let lane = active.trailing_zeros() as usize;
        match (read, written) {
            (None, Some(to)) if is_move => {
                // A value of its own: the compiler's name for another register.
                let all = multiplying.committed.iter_mut().chain(std::iter::once(&mut multiplying.open));
                all.for_each(|rows| {
                    rows.results.remove(&to);
                    rows.factors.remove(&to);
                });
                Ok(())
            }
            (Some(_), _) => {
                let message = "the result of a wgmma is used before wgmma.wait_group has waited for it";
                Err(self.illegal(w, pc, lane, message))
            }
            (_, Some(_)) => {
                let message = "a register of a wgmma is written before wgmma.wait_group has waited for it";
                Err(self.illegal(w, pc, lane, message))
            }
            (None, None) => Ok(()),
        }
    }

    /// The slots that an instruction reads and writes, as far as it is one that does something with results of multiplications.
    fn registers_of(&self, pc: u32, inst: &Inst) -> (Vec<i32>, Vec<i32>) {
        let image = &self.set.code.image;
        match inst.kind {
            Kind::Alu => {
                let info = &self.set.code.extras[pc as usize].arithmetic;
                let reads = inst.ops.src[..usize::from(info.sources)].to_vec();
                let second = info.second.then_some(inst.ops.dst2 as i32);
                (reads, std::iter::once(inst.ops.dst as i32).chain(second).collect())
            }
            Kind::Load | Kind::Store => {
                let access = &image.accesses[inst.extra as usize];
                let rows = access.rows[..usize::from(access.vec)].to_vec();
                if inst.kind == Kind::Load { (Vec::new(), rows) } else { (rows, Vec::new()) }
            }
            Kind::Pack | Kind::Unpack => {
                let pack = &image.packs[inst.extra as usize];
                let parts = pack.parts.iter().flatten().map(|(slot, _)| *slot).collect();
                if inst.kind == Kind::Pack { (parts, vec![pack.whole]) } else { (vec![pack.whole], parts) }
            }
            _ => (Vec::new(), Vec::new()),
        }
    }
}
