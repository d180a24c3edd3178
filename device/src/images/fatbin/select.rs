//! Which PTX of a fat binary runs.
//!
//! The highest architecture that the device may run, as the real driver does where there is no machine code
//! for it. PTX for one architecture only (`sm_90a`) runs there alone, PTX for a family (`sm_100f`)
//! on later ones of the same generation; where there is plain PTX of the same number it is preferred, as
//! it asks for less.
//!
//! Where all PTX is for later devices, the earliest plain one runs: on the virtual device an architecture is no more
//! than the instructions that a kernel uses, and those that it lacks are told at a launch. (Libraries embed
//! PTX for the latest architecture alone, beside machine code for the others.)

use super::parse::{Architecture, EntryKind, FatBinary, FatBinaryEntry};

/// What was found.
#[derive(Clone, Copy, Debug)]
pub enum ImageChoice<'a, 'b> {
    /// PTX to run.
    Ptx(&'b FatBinaryEntry<'a>),
    /// PTX that is meant for later devices, and may run.
    Later(&'b FatBinaryEntry<'a>),
    /// None: the fat binary is empty, as the linked half of a program is that holds PTX alone.
    Empty,
    /// None that runs.
    None(Chosen),
}

/// What a fat binary without fitting PTX holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The lowest architecture of PTX that is there.
    pub ptx_for: Option<Architecture>,
    /// Machine code for this one, and perhaps others.
    pub machine_code_for: Option<Architecture>,
    /// Whether there is code for optimisation at link time.
    pub link_time_ir: bool,
}

/// Whether a device of this compute capability may run PTX for an architecture.
fn runs(architecture: Architecture, (major, minor): (u32, u32)) -> bool {
    let number = major * 10 + minor;
    match architecture.suffix {
        None => architecture.number <= number,
        Some('f') => architecture.number <= number && architecture.number / 10 == major,
        Some(_) => architecture.number == number,
    }
}

/// The best PTX of a fat binary for a device of this compute capability.
pub fn choose<'a, 'b>(binary: &'b FatBinary<'a>, capability: (u32, u32)) -> ImageChoice<'a, 'b> {
    let ptx = || binary.entries.iter().filter(|entry| entry.kind == EntryKind::Ptx);
    let fitting = ptx().filter(|entry| runs(entry.architecture, capability));
    // Of equals the first one counts, and `max_by_key` gives the last.
    let best =
        fitting.rev().max_by_key(|entry| (entry.architecture.number, entry.architecture.suffix.is_none()));
    if let Some(best) = best {
        return ImageChoice::Ptx(best);
    }
    let plain = ptx().filter(|entry| entry.architecture.suffix.is_none());
    if let Some(earliest) = plain.min_by_key(|entry| entry.architecture.number) {
        return ImageChoice::Later(earliest);
    }
    if binary.entries.is_empty() {
        return ImageChoice::Empty;
    }
    let of =
        |kind| binary.entries.iter().filter(move |entry| entry.kind == kind).map(|entry| entry.architecture);
    ImageChoice::None(Chosen {
        ptx_for: ptx().map(|entry| entry.architecture).min_by_key(|architecture| architecture.number),
        machine_code_for: of(EntryKind::Elf).next(),
        link_time_ir: of(EntryKind::LinkTimeIr).next().is_some(),
    })
}

impl Chosen {
    /// Why nothing of it runs, and what to do about it; `number` is the device's, 90 of 9.0.
    pub fn advice(&self, number: u32) -> String {
        let embed = "embed PTX: nvcc -arch=sm_75, or -gencode arch=compute_75,code=compute_75";
        match self {
            Chosen { ptx_for: Some(architecture), .. } => format!(
                "its PTX is for {architecture}, which the virtual device (sm_{number}) does not run: build for an earlier one ({embed})"
            ),
            Chosen { machine_code_for: Some(architecture), .. } => {
                format!("it holds machine code only ({architecture}), and Bugaroo runs PTX: {embed}")
            }
            Chosen { link_time_ir: true, .. } => {
                format!(
                    "it holds code for optimisation at link time only (-dlto), and Bugaroo runs PTX: {embed}"
                )
            }
            _ => format!("it holds no PTX: {embed}"),
        }
    }
}
