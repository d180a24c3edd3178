//! What is known of a program's accesses before any of its grids begins: which are volatile, and which go by another one.

use bugaroo_semantics::event::SiteNumber;
use bugaroo_semantics::inferred::Role;

/// An access that goes where its leader goes ([`Role::led_by`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Follower {
    /// Its instruction, counted from the program's first one.
    pub site: SiteNumber,
    /// How many bytes behind its leader it goes.
    pub apart: u64,
}

/// The instructions of a program.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    roles: Box<[Role]>,
    /// By leader, one behind the other.
    followers: Vec<Follower>,
    /// Where those of each instruction begin among them, and where those of the last one end.
    first: Vec<u32>,
}

impl Learnt {
    pub fn new(roles: &[Role]) -> Learnt {
        let mut led: Vec<(u32, Follower)> = (0..)
            .zip(roles)
            .filter_map(|(site, role)| {
                let (leader, apart) = role.led_by?;
                Some((leader, Follower { site, apart }))
            })
            .collect();
        // Of one leader they stay in the order of the text.
        led.sort_by_key(|(leader, _)| *leader);
        let first = if led.is_empty() {
            Vec::new()
        } else {
            (0..=roles.len())
                .map(|site| led.partition_point(|(leader, _)| (*leader as usize) < site) as u32)
                .collect()
        };
        Learnt {
            roles: roles.into(),
            followers: led.into_iter().map(|(_, follower)| follower).collect(),
            first,
        }
    }

    /// How many instructions it has; 0 where nothing was learnt.
    pub fn len(&self) -> u64 {
        self.roles.len() as u64
    }

    /// What an instruction is.
    #[inline]
    pub fn role(&self, site: SiteNumber) -> Role {
        self.roles.get(site as usize).copied().unwrap_or_default()
    }

    /// Those who go by it.
    #[inline]
    pub fn followers(&self, site: SiteNumber) -> &[Follower] {
        let Some([from, to]) = self.first.get(site as usize..site as usize + 2) else { return &[] };
        &self.followers[*from as usize..*to as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_are_found_by_their_leaders() {
        let mut roles = vec![Role::default(); 7];
        roles[3].led_by = Some((1, 8));
        roles[4].led_by = Some((0, 16));
        roles[6].led_by = Some((1, 4_u64.wrapping_neg()));
        let learnt = Learnt::new(&roles);
        assert_eq!(learnt.followers(0), [Follower { site: 4, apart: 16 }]);
        assert_eq!(
            learnt.followers(1),
            [Follower { site: 3, apart: 8 }, Follower { site: 6, apart: 4_u64.wrapping_neg() }]
        );
        for site in [2, 3, 4, 5, 6, 7, 100] {
            assert_eq!(learnt.followers(site), [], "{site}");
        }
        assert_eq!((learnt.len(), learnt.role(3).led_by, learnt.role(7).led_by), (7, Some((1, 8)), None));
        assert_eq!(Learnt::default().followers(0), []);
    }
}
