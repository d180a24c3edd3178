//! Random programs: rendezvous one after the other, so that many of them are right, and damage.

use super::{Cta, Line, What};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A program of two to four warps.
pub fn program(random: &mut Random) -> Cta {
    let warps = 2 + random.below(3);
    let last = if random.chance(60) { 32 } else { 1 + random.below(31) };
    let mut cta = Cta { threads: (warps as u32 - 1) * 32 + last as u32, warps: vec![Vec::new(); warps] };
    // The parts that a warp falls into: a few, so that lanes of one part meet again.
    let parts: Vec<u32> = (0..warps)
        .map(|warp| {
            let dice = [0xffff, 0x1, 0xf, 0x5555_5555, 0xffff_fff0, 0x8000_0000, 0x00ff_ff00];
            let part = dice[random.below(dice.len())] & cta.lanes(warp);
            if part == 0 || part == cta.lanes(warp) { 1 } else { part }
        })
        .collect();
    for _ in 0..1 + random.below(4) {
        rendezvous(random, &mut cta, &parts);
        if random.chance(25) {
            let warp = random.below(warps);
            let lanes = if random.chance(70) { parts[warp] } else { cta.lanes(warp) & !parts[warp] };
            cta.warps[warp].push(Line { lanes, what: What::Exit });
        }
    }
    while random.chance(35) {
        damage(random, &mut cta, &parts);
    }
    for lines in &mut cta.warps {
        lines.retain(|line| line.lanes != 0);
        lines.truncate(6);
    }
    cta
}

/// Some warps meet at a barrier, whole or in parts.
fn rendezvous(random: &mut Random, cta: &mut Cta, parts: &[u32]) {
    let warps = cta.warps.len();
    let id = random.below(3);
    let all = random.chance(35);
    let members: Vec<usize> = match all {
        true => (0..warps).collect(),
        false => {
            let mut members: Vec<usize> = (0..warps).filter(|_| random.chance(60)).collect();
            if members.is_empty() {
                members.push(random.below(warps));
            }
            members
        }
    };
    let number = members.len() as u32 * 32;
    let arrivals = random.chance(50);
    for warp in members {
        let mut line = |lanes: u32, split: bool| {
            let waits = !arrivals || random.chance(50);
            let count = if all && waits && random.chance(60) { None } else { Some(number) };
            let aligned = random.chance(if split { 2 } else { 30 });
            Line { lanes, what: What::Barrier { id, count, waits, aligned } }
        };
        let whole = cta.lanes(warp);
        let (one, other) = (line(parts[warp], true), line(whole & !parts[warp], true));
        let together = line(whole, false);
        match random.below(10) {
            0..4 => cta.warps[warp].extend([one, other]),
            4 => cta.warps[warp].extend([other, one]),
            _ => cta.warps[warp].push(together),
        }
    }
}

fn damage(random: &mut Random, cta: &mut Cta, parts: &[u32]) {
    let warp = random.below(cta.warps.len());
    if cta.warps[warp].is_empty() {
        return;
    }
    let at = random.below(cta.warps[warp].len());
    match random.below(8) {
        0 | 6 | 7 => {
            cta.warps[warp].remove(at);
        }
        1 => {
            let line = cta.warps[warp].remove(at);
            let to = random.below(cta.warps[warp].len() + 1);
            cta.warps[warp].insert(to, line);
        }
        2 => cta.warps[warp][at].lanes &= parts[warp],
        3 => {
            let lanes = if random.chance(60) { parts[warp] } else { cta.lanes(warp) };
            cta.warps[warp].insert(at, Line { lanes, what: What::Exit });
        }
        4 => {
            let line = cta.warps[warp][at];
            cta.warps[warp].push(line);
        }
        _ => {
            if let What::Barrier { count, waits, .. } = &mut cta.warps[warp][at].what {
                *count = match random.below(3) {
                    0 if *waits => None,
                    n => Some(32 * (1 + n as u32)),
                };
            }
        }
    }
}
