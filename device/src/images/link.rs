//! A link in progress: what was added, and the logs that the program gave.

use std::ffi::c_uint;

use crate::error::Status;
use crate::images::fatbin;
use crate::images::image::{Image, architecture};
use crate::images::jit::JitOptions;
use crate::images::linker::Linker;
use crate::images::refusal::ImageRefusal;

/// A link in progress.
#[derive(Debug)]
pub struct Link {
    /// What was added so far.
    pub linker: Linker,
    /// Logs, which the program keeps until the link is destroyed.
    pub options: JitOptions,
    /// What was linked; it lives as long as the link.
    pub image: Option<Vec<u8>>,
}

/// `CUjitInputType`
const CUBIN: c_uint = 0;
const PTX: c_uint = 1;
const FAT_BINARY: c_uint = 2;
const OBJECT: c_uint = 3;
const LIBRARY: c_uint = 4;
const NVVM: c_uint = 5;

/// The library with NVIDIA's device-side runtime, by its file's name.
const DEVICE_RUNTIME: &str = "cudadevrt";

impl Link {
    /// Adds an input.
    pub fn add(
        &mut self,
        kind: c_uint,
        name: &str,
        bytes: &[u8],
        capability: (u32, u32),
    ) -> Result<(), ImageRefusal> {
        let what = match kind {
            PTX | FAT_BINARY => return self.add_image(name, &Image::of(bytes), capability),
            // Some programs call everything a library or a cubin.
            LIBRARY if name.contains(DEVICE_RUNTIME) => {
                self.linker.add_device_runtime();
                return Ok(());
            }
            CUBIN if !bytes.starts_with(b"\x7fELF") => {
                return self.add_image(name, &Image::of(bytes), capability);
            }
            CUBIN => "machine code (a cubin)",
            OBJECT => "an object file",
            LIBRARY => "a library",
            NVVM => "NVVM intermediate code",
            _ => {
                return Err(ImageRefusal {
                    status: Status::InvalidValue,
                    text: format!("{name} is of an unknown kind ({kind})"),
                    unsupported: false,
                });
            }
        };
        Err(ImageRefusal {
            status: Status::NoBinaryForGpu,
            text: format!("{name} is {what}, and Bugaroo links PTX: pass PTX or a fat binary with PTX in it"),
            unsupported: true,
        })
    }

    fn add_image(
        &mut self,
        name: &str,
        image: &Image<'_>,
        capability: (u32, u32),
    ) -> Result<(), ImageRefusal> {
        let text = image.ptx(capability)?;
        // Told now, with the input's own lines, and not at the end.
        bugaroo_ptx::parse(&text).map_err(|error| ImageRefusal::syntax(&text, &error))?;
        self.linker.add_ptx(name, text.into_owned());
        Ok(())
    }

    /// Links what was added.
    pub fn complete(&mut self) -> Result<&[u8], ImageRefusal> {
        let image = match self.image.take() {
            Some(image) => image,
            None => {
                let linked = self.linker.complete()?;
                let target =
                    bugaroo_ptx::parse(&linked).ok().and_then(|module| architecture(module.targets.first()?));
                let number = target.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
                fatbin::of_ptx(&linked, number)
            }
        };
        Ok(self.image.insert(image))
    }
}
