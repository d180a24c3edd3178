//! Modules on their way to the real driver: their PTX is instrumented, and what launches need to know of it is kept.
//!
//! An instrumented text is compiled once, by the real driver's linker, and the machine code kept on disk
//! beside the instrumented text, by content, architecture and driver version. Where that does not work the text itself is
//! loaded; where that does not work either, the program's own image, with a warning.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::fs;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use bugaroo_cuda_abi::{CUdeviceptr, CUmodule};
use bugaroo_device_handlers::LAUNCH_VARIABLE;
use bugaroo_injector::Instrumented;
use bugaroo_protocol::{Message, ModuleReport, Orders, Site, SiteId};
use bugaroo_ptx::ast::FunctionKind;

use super::real;
use bugaroo_device::digest::Digest;
use bugaroo_device::error::{CallResult, Status};
use bugaroo_device::images::image::Image;
use bugaroo_device::images::numbers::ModuleNumbers;
use bugaroo_device::trial::cache;
use bugaroo_device::trial::report::ReportPipe;
use bugaroo_device::trial::site_flags::site_flags;

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
const CAPABILITY: [c_int; 2] = [75, 76];
/// `CU_JIT_INPUT_PTX`
const PTX: c_uint = 1;

/// What a handle of a loaded module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A module's.
    Module(usize),
    /// A library's: its modules are one for each context.
    Library(usize),
}

/// The instrumented modules of the process.
#[derive(Debug, Default)]
pub struct Modules {
    numbers: ModuleNumbers,
    loaded: Vec<Loaded>,
    /// Where the state and the flags of modules lie that were launched from.
    placed: Vec<(usize, Placed)>,
    /// The user was told that modules run as they are.
    warned: bool,
}

#[derive(Debug)]
struct Loaded {
    owner: Owner,
    number: u32,
    instrumented: Arc<Instrumented>,
}

/// What a launch has to know of its module.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Address of the launch state.
    pub variable: CUdeviceptr,
    /// Address of the site flags table, where one is set.
    pub flags: Option<CUdeviceptr>,
    /// What the injector did.
    pub instrumented: Arc<Instrumented>,
}

/// An image, instrumented.
#[derive(Debug)]
pub struct Rewritten {
    number: u32,
    instrumented: Arc<Instrumented>,
    code: Option<Vec<u8>>,
    text: CString,
}

impl Rewritten {
    /// What to hand to the real driver, the best first.
    pub fn images(&self) -> impl Iterator<Item = *const c_void> + '_ {
        let code = self.code.iter().map(|code| code.as_ptr().cast());
        code.chain([self.text.as_ptr().cast()])
    }
}

impl Modules {
    /// Instruments an image, and reports the module; None when it has to run as it is.
    pub fn rewrite(&mut self, image: &Image<'_>, orders: &Orders, report: &ReportPipe) -> Option<Rewritten> {
        let (capability, source) = match capability().map(|capability| (capability, image.ptx(capability))) {
            Ok((capability, Ok(source))) => (capability, source),
            // The real driver tells what is wrong with an image that is damaged.
            Ok((_, Err(refusal))) if !refusal.unsupported => return None,
            Ok((_, Err(refusal))) => return self.warn(&refusal.text),
            Err(_) => return self.warn("the device's architecture is not known"),
        };
        let digest = Digest::of(source.as_bytes());
        let number = self.numbers.of(digest);
        let wanted = orders.model().is_some() || orders.report_sites;
        let instrumented =
            match wanted.then(|| cache::instrument(orders.cache.as_deref(), &source, digest)).transpose() {
                Ok(instrumented) => instrumented,
                Err(refusal) => return self.warn(&refusal.text),
            };
        let named = |site: &Site| Site { id: SiteId { module: number, ..site.id }, ..site.clone() };
        report.send(&Message::Module(ModuleReport {
            module: number,
            digest: digest.to_string(),
            kernels: kernels(&source),
            sites: instrumented
                .as_ref()
                .filter(|_| orders.report_sites)
                .map(|made| made.sites.iter().map(named).collect()),
        }));
        orders.model()?;
        let instrumented = instrumented?;
        let text = CString::new(instrumented.ptx.as_str()).ok()?;
        let code = compiled(&text, orders, capability);
        Some(Rewritten { number, instrumented: Arc::new(instrumented), code, text })
    }

    /// Keeps what was made of a module that was loaded.
    pub fn keep(&mut self, owner: Owner, rewritten: Rewritten) {
        let Rewritten { number, instrumented, .. } = rewritten;
        self.loaded.push(Loaded { owner, number, instrumented });
    }

    /// Forgets a module that was unloaded. Its flags table, if there is one, goes with the context.
    pub fn forget(&mut self, owner: Owner) {
        self.loaded.retain(|loaded| loaded.owner != owner);
        // Handles are used again.
        self.placed.clear();
    }

    /// Says once that code runs as it is.
    pub fn warn<T>(&mut self, what: &str) -> Option<T> {
        if !self.warned {
            self.warned = true;
            eprintln!("bugaroo: {what}; it runs without injection");
        }
        None
    }

    /// What a launch has to know of a module; None when it is not instrumented.
    ///
    /// # Errors
    /// When its table of sites cannot be written.
    pub fn placed(&mut self, module: CUmodule, orders: &Orders) -> CallResult<Option<Placed>> {
        if let Some((_, placed)) = self.placed.iter().find(|(of, _)| *of == module as usize) {
            return Ok(Some(placed.clone()));
        }
        let is = |loaded: &&Loaded| match loaded.owner {
            Owner::Module(handle) => handle == module as usize,
            Owner::Library(handle) => {
                let mut own = null_mut();
                // SAFETY: a library that was loaded and not unloaded, and a place for a handle.
                unsafe { real::cuLibraryGetModule(&raw mut own, handle as *mut c_void) }.is_ok()
                    && own == module
            }
        };
        let Some(loaded) = self.loaded.iter().find(is) else { return Ok(None) };
        let (mut variable, mut bytes) = (0, 0);
        // An identifier holds no NUL.
        let name = CString::new(LAUNCH_VARIABLE).unwrap_or_default();
        // SAFETY: places for the results, and a C string.
        let found =
            unsafe { real::cuModuleGetGlobal_v2(&raw mut variable, &raw mut bytes, module, name.as_ptr()) };
        if found.is_err() {
            // The injector leaves a module without any site alone.
            return Ok(None);
        }
        let table = site_flags(orders, loaded.number, loaded.instrumented.sites.len());
        let flags = if table.iter().all(|word| *word == 0) {
            None
        } else {
            let mut address = 0;
            // SAFETY: a place for the address; the table's bytes are copied at the call.
            unsafe {
                real::cuMemAlloc_v2(&raw mut address, size_of_val(&table[..]))?;
                real::cuMemcpyHtoD_v2(address, table.as_ptr().cast(), size_of_val(&table[..]))?;
            }
            Some(address)
        };
        let placed = Placed { variable, flags, instrumented: Arc::clone(&loaded.instrumented) };
        self.placed.push((module as usize, placed.clone()));
        Ok(Some(placed))
    }
}

/// The compute capability of the current context's device; of device 0 where none is current.
fn capability() -> CallResult<(u32, u32)> {
    let mut device = 0;
    // SAFETY: a place for the number.
    let _ = unsafe { real::cuCtxGetDevice(&raw mut device) };
    let mut found = [0; 2];
    for (place, attribute) in found.iter_mut().zip(CAPABILITY) {
        // SAFETY: a place for the number.
        unsafe { real::cuDeviceGetAttribute(place, attribute, device) }?;
    }
    Ok((found[0].unsigned_abs(), found[1].unsigned_abs()))
}

/// The kernels of a module, as its PTX names them.
fn kernels(source: &str) -> Vec<String> {
    let Ok(module) = bugaroo_ptx::parse(source) else { return Vec::new() };
    let kernels = module.functions().filter(|function| function.kind == FunctionKind::Entry);
    kernels.map(|kernel| kernel.name.clone()).collect()
}

/// Machine code of a text: from disk, or made now and put there.
fn compiled(text: &CString, orders: &Orders, (major, minor): (u32, u32)) -> Option<Vec<u8>> {
    let mut version = 0;
    // SAFETY: a place for the number.
    unsafe { real::cuDriverGetVersion(&raw mut version) }.ok()?;
    let digest = Digest::of(text.as_bytes());
    let entry: Option<PathBuf> =
        orders.cache.as_ref().map(|folder| folder.join(format!("{digest}-{major}{minor}-{version}.cubin")));
    if let Some(found) = entry.as_ref().and_then(|entry| fs::read(entry).ok()) {
        return Some(found);
    }
    let code = compile(text).ok()?;
    if let Some(entry) = entry {
        // Whole or absent, whoever else writes it; only time is lost when this fails.
        let part = entry.with_extension(format!("{}.part", std::process::id()));
        let _ = fs::write(&part, &code).and_then(|()| fs::rename(&part, &entry));
    }
    Some(code)
}

fn compile(text: &CString) -> CallResult<Vec<u8>> {
    let (mut state, mut image, mut bytes) = (null_mut(), null_mut(), 0);
    let given = text.as_bytes_with_nul();
    // SAFETY: places for the results; the text lives until the state is destroyed, before which the image is
    // copied.
    unsafe {
        real::cuLinkCreate_v2(0, null(), null_mut(), &raw mut state)?;
        let name = c"instrumented.ptx".as_ptr();
        let made = real::cuLinkAddData_v2(
            state,
            PTX,
            given.as_ptr().cast(),
            given.len(),
            name,
            0,
            null(),
            null_mut(),
        )
        .and_then(|()| real::cuLinkComplete(state, &raw mut image, &raw mut bytes))
        .and_then(|()| if image.is_null() { Err(Status::Unknown) } else { Ok(()) })
        .map(|()| std::slice::from_raw_parts(image.cast::<u8>(), bytes).to_vec());
        let _ = real::cuLinkDestroy(state);
        made
    }
}
