//! What a fat binary has for a device.

use crate::error::Status;
use crate::images::fatbin::{FatBinary, FatError, ImageChoice, choose};
use crate::images::refusal::ImageRefusal;
use crate::images::wanted;

/// What a fat binary has for a device.
#[derive(Debug)]
pub enum Fitting {
    /// PTX.
    Ptx(String),
    /// It is empty.
    Nothing,
    /// NVIDIA's device-side runtime (libcudadevrt), which nvcc adds to what it links and whose PTX is for
    /// later devices alone.
    DeviceRuntime,
}

/// A function that the device-side runtime defines.
const OF_THE_DEVICE_RUNTIME: &str = "cudaGetParameterBufferV2";

/// The best PTX of one fat binary.
///
/// # Errors
/// When it is damaged, or holds nothing that the device runs.
pub fn fitting(binary: &[u8], capability: (u32, u32)) -> Result<Fitting, ImageRefusal> {
    let binary = FatBinary::parse(binary).map_err(|error| damaged(&error))?;
    match choose(&binary, capability) {
        ImageChoice::Ptx(entry) => entry.text().map(Fitting::Ptx).map_err(|error| damaged(&error)),
        ImageChoice::Later(entry) => {
            let text = entry.text().map_err(|error| damaged(&error))?;
            let of_the_runtime = text.contains(OF_THE_DEVICE_RUNTIME);
            Ok(if of_the_runtime { Fitting::DeviceRuntime } else { Fitting::Ptx(text) })
        }
        ImageChoice::Empty => Ok(Fitting::Nothing),
        ImageChoice::None(chosen) => {
            let advice = chosen.advice(capability.0 * 10 + capability.1);
            Err(none(format!("{} is a fat binary that does not fit: {advice}", wanted::module())))
        }
    }
}

pub(crate) fn none(text: String) -> ImageRefusal {
    ImageRefusal { status: Status::NoBinaryForGpu, text, unsupported: true }
}

pub(crate) fn damaged(error: &FatError) -> ImageRefusal {
    ImageRefusal {
        status: Status::InvalidImage,
        text: format!("a module is a damaged fat binary: {error}"),
        unsupported: false,
    }
}
