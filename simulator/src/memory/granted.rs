//! Which devices may do what with memory.

/// What device code may do with memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MappingAccess {
    /// Nothing, as with what was just mapped.
    #[default]
    None,
    /// Read.
    Read,
    /// Read and write.
    ReadWrite,
}

/// The bit of a device; none of one beyond those that there can be.
fn bit(device: u32) -> u32 {
    1_u32.checked_shl(device).unwrap_or(0)
}

/// What each device may do with memory. Bits by ordinal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    read: u32,
    write: u32,
}

impl Granted {
    /// What one of them may do.
    pub fn of(&self, device: u32) -> MappingAccess {
        match (self.write & bit(device), self.read & bit(device)) {
            (0, 0) => MappingAccess::None,
            (0, _) => MappingAccess::Read,
            _ => MappingAccess::ReadWrite,
        }
    }

    /// Whether a device may do this; None: whether any may.
    pub(super) fn lets(&self, device: Option<u32>, access: MappingAccess) -> bool {
        let among = device.map_or(u32::MAX, bit);
        match access {
            MappingAccess::None => true,
            MappingAccess::Read => (self.read | self.write) & among != 0,
            MappingAccess::ReadWrite => self.write & among != 0,
        }
    }

    /// Says what one of them may do from now on.
    pub fn set(&mut self, device: u32, access: MappingAccess) {
        let on = |set: u32, yes: bool| if yes { set | bit(device) } else { set & !bit(device) };
        self.read = on(self.read, access >= MappingAccess::Read);
        self.write = on(self.write, access == MappingAccess::ReadWrite);
    }
}
