//! Several virtual GPUs.
//!
//! They are alike, and share one address space and one store of bytes, as unified addressing has it. Each has contexts, variables of
//! modules, and stores of its own: what a thread orders for its device alone, the others may still miss
//! ([`bugaroo_simulator::model::held_from_beyond`]).

use std::collections::BTreeSet;

use bugaroo_cuda_abi::{CUcontext, CUdevice, CUfunction, CUlibrary, CUmodule};

use crate::devices;
use crate::error::{CallResult, Status};
use crate::images::image::Image;
use crate::images::jit::JitOptions;
use crate::objects::library::Library;
use crate::objects::primary::{Primary, check_device};
use crate::objects::queue::WorkProgress;
use crate::state::Gpu;

impl Gpu {
    /// The device of a context; the first one where there is no such context any more.
    pub fn device_of(&self, context: CUcontext) -> CUdevice {
        self.owners.contexts.get(context).map_or(0, |context| context.device)
    }

    /// A device's primary context.
    ///
    /// # Errors
    /// `InvalidDevice`
    pub fn primary(&mut self, device: CUdevice) -> CallResult<&mut Primary> {
        check_device(device)?;
        self.owners.primaries.get_mut(device as usize).ok_or(Status::InvalidDevice)
    }

    /// Kernels of a context's device that run show all that they hold back from other devices: other work of the same device goes
    /// on, and sees what is ordered for the device.
    pub fn settle_device(&mut self, context: CUcontext) {
        // One device holds nothing back from itself.
        if devices::count() == 1 {
            return;
        }
        let device = self.device_of(context);
        for ticket in self.running.queue.ready().to_vec() {
            let Some(item) = self.running.queue.item(ticket) else { continue };
            let of = self.owners.contexts.get(item.context).map_or(0, |context| context.device);
            if of == device
                && let WorkProgress::Flying(flight) = &mut item.progress
            {
                flight.grid.settle(&mut self.memory);
            }
        }
    }

    /// Loads a library: a module on each device.
    ///
    /// # Errors
    /// As for a module.
    pub fn load_library(&mut self, image: &Image<'_>, options: &JitOptions) -> CallResult<CUlibrary> {
        let modules = self.load_everywhere(image, options)?;
        Ok(self.code.libraries.insert(Library { modules, image: None, stale: BTreeSet::new() }))
    }

    /// A library that is loaded when something of it is asked for first: most programs register more device code than they use, and
    /// what is not used may be machine code alone.
    pub fn load_library_later(&mut self, image: Image<'static>) -> CUlibrary {
        self.code.libraries.insert(Library {
            modules: Vec::new(),
            image: Some(image),
            stale: BTreeSet::new(),
        })
    }

    /// A module on each device. Managed variables are the first one's: there is one of each for all.
    fn load_everywhere(&mut self, image: &Image<'_>, options: &JitOptions) -> CallResult<Vec<CUmodule>> {
        let mut modules = vec![self.load_module(None, image, options)?];
        self.own_module(modules[0], 0);
        for device in 1..devices::count() {
            let module = self.load_module_beside(None, Some(modules[0]), image, options)?;
            self.own_module(module, device);
            modules.push(module);
        }
        Ok(modules)
    }

    /// The module of a library on a device, loaded if it is not yet.
    ///
    /// # Errors
    /// `InvalidHandle`, `InvalidDevice`; as [`Self::load_library`] when it is loaded. It is tried again at the next use then.
    pub fn library_module(&mut self, library: CUlibrary, device: CUdevice) -> CallResult<CUmodule> {
        let found = self.code.libraries.get_mut(library)?;
        if !found.modules.is_empty() && !found.stale.contains(&device) {
            return self.loaded_module(library, device);
        }
        // Only what waits for its first use, or has ended with a context, is without modules, and both have an image.
        let image = found.image.take().ok_or(Status::InvalidHandle)?;
        let loaded = if found.modules.is_empty() {
            self.load_everywhere(&image, &JitOptions::none()).and_then(|modules| {
                self.code.libraries.get_mut(library).map(|library| library.modules = modules)
            })
        } else {
            self.load_anew(library, device, &image)
        };
        self.code.libraries.get_mut(library)?.image = Some(image);
        loaded?;
        self.loaded_module(library, device)
    }

    /// Loads the module of a library on one device anew. Kernels keep their handles.
    fn load_anew(&mut self, library: CUlibrary, device: CUdevice, image: &Image<'_>) -> CallResult {
        let old = self.loaded_module(library, device)?;
        let handles = std::mem::take(&mut self.code.modules.get_mut(old)?.functions);
        self.unload(old)?;
        let module = self.load_module(None, image, &JitOptions::none())?;
        self.own_module(module, device);
        // The same image has the same kernels, in the same order.
        let fresh = std::mem::replace(&mut self.code.modules.get_mut(module)?.functions, handles.clone());
        for (handle, fresh) in handles.into_iter().zip(fresh) {
            *self.code.functions.get_mut(handle)? = self.code.functions.remove(fresh)?;
        }
        let library = self.code.libraries.get_mut(library)?;
        library.stale.remove(&device);
        library.modules[device as usize] = module;
        Ok(())
    }

    /// A device's primary context has ended, and with it what was loaded for it. A module with managed variables stays as it is:
    /// NVIDIA's runtime has told the program where they are, and does not tell it again.
    pub fn end_library_modules(&mut self, device: CUdevice) {
        let ends = |library: &Library| {
            library.image.is_some()
                && library.modules.get(device as usize).is_some_and(|module| !self.has_managed(*module))
        };
        for library in self.code.libraries.find(ends) {
            // Just found, hence there.
            if let Ok(library) = self.code.libraries.get_mut(library) {
                library.stale.insert(device);
            }
        }
    }

    /// Whether a module has managed variables.
    fn has_managed(&self, module: CUmodule) -> bool {
        let module = self.code.modules.get(module);
        module.is_ok_and(|module| {
            module.program.variables().any(|(_, (address, _))| self.memory.covers_host_visible(address))
        })
    }

    /// The same of a library that was loaded.
    fn loaded_module(&self, library: CUlibrary, device: CUdevice) -> CallResult<CUmodule> {
        let modules = &self.code.libraries.get(library)?.modules;
        modules.get(device as usize).copied().ok_or(Status::InvalidDevice)
    }

    /// A kernel as it is on a context's device: that of a library is another function on each.
    ///
    /// # Errors
    /// `InvalidHandle`
    pub fn function_on(&mut self, context: CUcontext, function: CUfunction) -> CallResult<CUfunction> {
        let device = self.device_of(context);
        let mut module = self.code.functions.get(function)?.module;
        let ended = self
            .code
            .libraries
            .find(|library| library.stale.contains(&device) && library.modules.contains(&module));
        if let Some(library) = ended.first() {
            self.library_module(*library, device)?;
            module = self.code.functions.get(function)?.module;
        }
        if devices::count() == 1 || self.code.modules.get(module)?.context.is_some() {
            return Ok(function);
        }
        let libraries = self.code.libraries.find(|library| library.modules.contains(&module));
        let library = *libraries.first().ok_or(Status::InvalidHandle)?;
        let here = self.code.modules.get(self.loaded_module(library, self.device_of(context))?)?;
        let all = &self.code.modules.get(module)?.functions;
        let place = all.iter().position(|other| *other == function);
        place.and_then(|place| here.functions.get(place)).copied().ok_or(Status::InvalidHandle)
    }
}
