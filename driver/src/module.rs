//! Modules (CUDA Driver API, "Module Management"): PTX text, instrumented as the orders say, decoded
//! and placed in device memory.

use std::ffi::{CString, c_char, c_uint, c_void};
use std::fs;
use std::sync::Arc;

use bugaroo_cuda_abi::{CUcontext, CUdeviceptr, CUfunction, CUmodule};
use bugaroo_injector::collect_sites::collect_sites;
use bugaroo_injector::is_toolkit_header;
use bugaroo_protocol::{Message, ModuleReport};
use bugaroo_ptx::ParseError;
use bugaroo_ptx::ast::{Item, Module as Ast};
use bugaroo_ptx::types::Space;
use bugaroo_simulator::{LoadError, Program};

use crate::digest::Digest;
use crate::entry::{not_null, taking_away, text, with_context, with_driver, write, write_if_wanted};
use crate::error::{Outcome, Status};
use crate::function::Function;
use crate::image::Image;
use crate::injection::Injected;
use crate::jit::Options;
use crate::recorded::Source;
use crate::state::Driver;

/// A loaded module.
#[derive(Debug)]
pub struct Module {
    /// Whose it is; None for a library's.
    pub context: Option<CUcontext>,
    /// The code.
    pub program: Arc<Program>,
    /// What the injector did, if it did anything.
    pub injected: Option<Injected>,
    /// What its launches are recorded with, where they are.
    pub recorded: Option<Source>,
    /// Handles of its kernels, in the order of the text.
    pub functions: Vec<CUfunction>,
}

impl Module {
    /// The code that launches run: with the fences that the orders want.
    pub fn running(&self) -> &Program {
        self.injected.as_ref().and_then(Injected::program).unwrap_or(&self.program)
    }

    /// The code that race detectors are told of: what runs, or what it was before it was made to log.
    pub fn looked_at(&self) -> &Program {
        self.injected.as_ref().and_then(Injected::logs).map_or(self.running(), |logs| logs.original())
    }
}

/// Numbers of modules: each distinct text gets the next one, in order of first loading, so that sites
/// keep their names in every run.
#[derive(Debug, Default)]
pub struct ModuleNumbers {
    seen: Vec<Digest>,
}

impl ModuleNumbers {
    /// The number of a text.
    pub fn of(&mut self, digest: Digest) -> u32 {
        let known = self.seen.iter().position(|seen| *seen == digest);
        let number = known.unwrap_or_else(|| {
            self.seen.push(digest);
            self.seen.len() - 1
        });
        u32::try_from(number).expect("nobody loads 2^32 modules")
    }
}

/// Why a module was not loaded.
#[derive(Debug)]
pub struct Refusal {
    /// What the program sees.
    pub status: Status,
    /// For a person.
    pub text: String,
    /// Whether the harness has to know that the program asks for what this version cannot do.
    pub unsupported: bool,
}

impl Refusal {
    /// It asks for something that this version cannot do.
    pub fn unsupported(text: String) -> Self {
        Refusal { status: Status::NotSupported, text, unsupported: true }
    }

    /// The text is not PTX. Where it does not even pretend to be, as real drivers do, it is called an
    /// invalid image.
    pub fn syntax(source: &str, error: &ParseError) -> Self {
        let status = if source.contains(".version") { Status::InvalidPtx } else { Status::InvalidImage };
        Refusal { status, text: format!("PTX line {error}"), unsupported: false }
    }

    /// The simulator refuses the program. `original` gives the line of the program's own text.
    pub fn load(error: LoadError, original: impl Fn(u32) -> Option<u32>) -> Self {
        match error {
            LoadError::Memory(error) => {
                Refusal { status: Status::OutOfMemory, text: error.to_string(), unsupported: false }
            }
            error => Refusal::unsupported(told(error, original)),
        }
    }
}

/// What the simulator lacks, with the line of the program's own text, which `original` gives, and the CUDA line.
fn told(error: LoadError, original: impl Fn(u32) -> Option<u32>) -> String {
    let source = error.source_positions();
    // The user's line: the innermost that is not the toolkit's own.
    let user = source.iter().find(|position| !is_toolkit_header(&position.file)).or(source.first());
    let source = user.map(|at| format!(" ({}:{})", at.file, at.line)).unwrap_or_default();
    format!("PTX {}{source}", error.at_line(|line| original(line).unwrap_or(line)))
}

impl Driver {
    /// Loads a module, and tells the program, the user and the harness when that fails.
    ///
    /// # Errors
    /// As the refusal says.
    pub fn load_module(
        &mut self,
        context: Option<CUcontext>,
        image: &Image<'_>,
        options: &Options,
    ) -> Outcome<CUmodule> {
        let source = image.ptx(self.config.compute_capability);
        let loaded = source.and_then(|source| self.load_text(context, &source));
        match loaded {
            Ok(module) => {
                options.tell(None);
                Ok(module)
            }
            Err(refusal) => {
                options.tell(Some(&refusal.text));
                Err(self.refuse(&refusal))
            }
        }
    }

    /// Tells the user and the harness why something was refused; the status for the program.
    pub fn refuse(&mut self, refusal: &Refusal) -> Status {
        if refusal.unsupported {
            let _ = self.report.unsupported(&refusal.text);
        } else if self.report.wanted() {
            // A plain virtual GPU is as quiet as the real driver; the log tells who asks.
            eprintln!("bugaroo: {}", refusal.text);
        }
        refusal.status
    }

    fn load_text(&mut self, context: Option<CUcontext>, source: &str) -> Result<CUmodule, Refusal> {
        let digest = Digest::of(source.as_bytes());
        let number = self.module_numbers.of(digest);
        let prepared = self.injection.prepare(source, digest, (&self.config, self.memory.capacity()))?;
        let text = prepared.text(source);
        let ast = bugaroo_ptx::parse(text).map_err(|error| Refusal::syntax(source, &error))?;
        let target = ast.targets.first().and_then(|target| architecture(target)).unwrap_or(0);
        let constants = constants(&ast);
        let before = self.module_memory();
        let program = Program::load(&ast, &mut self.memory, &self.config)
            .map_err(|error| Refusal::load(error, |line| prepared.original_line(line)))?;
        self.tell_module_memory(&before);
        let table = self.injection.wants_table().then(|| match prepared.logs() {
            Some(logs) => logs.table().clone(),
            None => collect_sites(&ast),
        });
        let sites = self.injection.report_sites().then(|| prepared.sites(table.as_ref(), number));
        // What is instrumented is another text.
        let placed = self.injection.placed(&program, table.as_ref().filter(|_| text == source));
        let recorder = self.recorder.as_ref();
        let recorded = recorder.map(|_| Source::new(source, digest, &ast, &program, &self.memory));
        let program = Arc::new(program);
        let injected = self.injection.install(prepared, table, number, &program);
        let kernels: Vec<String> = program.kernels().iter().map(|kernel| kernel.name.clone()).collect();
        let module =
            self.modules.insert(Module { context, program, injected, recorded, functions: Vec::new() });
        self.ends.loaded(module);
        let mut functions = Vec::with_capacity(kernels.len());
        for name in &kernels {
            // PTX names hold no NUL.
            let name = CString::new(name.as_str()).unwrap_or_default();
            functions.push(self.functions.insert(Function::new(module, name, target, constants)));
        }
        if let Ok(loaded) = self.modules.get_mut(module) {
            loaded.functions = functions;
        }
        self.report.send(&Message::Module(ModuleReport {
            module: number,
            digest: digest.to_string(),
            kernels,
            sites,
        }));
        if let Some(placed) = placed {
            self.report.send(&Message::Placed { module: number, placed });
        }
        Ok(module)
    }

    /// Refuses a kernel that the simulator cannot run, before anything of it does.
    ///
    /// # Errors
    /// `InvalidHandle`; `NotSupported`, which is told to the user and the harness, too.
    pub fn check_runnable(&self, function: CUfunction) -> Outcome {
        let (function, kernel) = self.kernel(function)?;
        let module = self.modules.get(function.module)?;
        let logs = module.injected.as_ref().and_then(Injected::logs);
        if let Some(why) = logs.and_then(|logs| logs.refused()) {
            let what = format!("kernel `{}` cannot be launched: {why}", function.name());
            return Err(self.report.unsupported(&what));
        }
        let Some(reason) = &kernel.refused else { return Ok(()) };
        let original = |line| match &module.injected {
            Some(injected) => injected.original_line(line),
            None => Some(line),
        };
        let text = told(reason.clone(), original);
        Err(self.report.unsupported(&format!("kernel `{}` cannot be launched: {text}", function.name())))
    }

    /// The handle of a module's kernel.
    ///
    /// # Errors
    /// `InvalidHandle`, `NotFound`.
    pub fn find_function(&self, module: CUmodule, name: &str) -> Outcome<CUfunction> {
        let functions = &self.modules.get(module)?.functions;
        let named = |handle: &&CUfunction| {
            self.functions.get(**handle).is_ok_and(|function| function.name.as_bytes() == name.as_bytes())
        };
        functions.iter().find(named).copied().ok_or(Status::NotFound)
    }

    /// Address and size of a module's variable.
    ///
    /// # Errors
    /// `InvalidHandle`, `NotFound`.
    pub fn find_variable(&self, module: CUmodule, name: &str) -> Outcome<(u64, u64)> {
        self.modules.get(module)?.program.variable(name).ok_or(Status::NotFound)
    }
}

/// Bytes of a module's constant memory.
fn constants(ast: &Ast) -> u32 {
    let size = |item: &Item| match item {
        Item::Variable(variable) if variable.space == Space::Const => variable.size(),
        _ => 0,
    };
    u32::try_from(ast.items.iter().map(size).sum::<u64>()).unwrap_or(u32::MAX)
}

/// 75 of `sm_75`.
pub fn architecture(target: &str) -> Option<i32> {
    let digits = target.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok()
}

fn load_data(
    name: &str,
    place: *mut CUmodule,
    image: *const c_void,
    (count, options, values): (c_uint, *const c_uint, *mut *mut c_void),
) -> Status {
    with_context(name, |driver, context| {
        not_null(place)?;
        // SAFETY: the exported functions' callers vouch for the image and the options.
        let (image, options) = unsafe { (Image::at(image)?, Options::read(count, options, values)?) };
        let module = driver.load_module(Some(context), &image, &options)?;
        // SAFETY: not null; the exported functions' callers vouch for the rest.
        unsafe { write(place, module) }
    })
}

/// Loads a module from memory.
///
/// `CUDA_ERROR_INVALID_PTX` or `CUDA_ERROR_INVALID_IMAGE` when it is not PTX;
/// `CUDA_ERROR_NO_BINARY_FOR_GPU` when it is a binary without PTX that fits. Kernels with instructions that the
/// simulator lacks are refused when they are launched.
///
/// # Safety
/// `place` is null or points to a place for a handle; `image` is null or a NUL-terminated PTX text, a
/// cubin, a fat binary or the wrapper of one.
pub unsafe extern "C" fn cuModuleLoadData(place: *mut CUmodule, image: *const c_void) -> Status {
    load_data("cuModuleLoadData", place, image, (0, std::ptr::null(), std::ptr::null_mut()))
}

/// Loads a module from memory, with options of the just-in-time compiler: of these, the logs are
/// honoured.
///
/// # Safety
/// As [`cuModuleLoadData`]; `options` and `values` hold `count` items each.
pub unsafe extern "C" fn cuModuleLoadDataEx(
    place: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    load_data("cuModuleLoadDataEx", place, image, (count, options, values))
}

/// Loads a module from a fat binary in memory; as with the real driver, all other images pass too.
///
/// # Safety
/// As [`cuModuleLoadData`].
pub unsafe extern "C" fn cuModuleLoadFatBinary(place: *mut CUmodule, image: *const c_void) -> Status {
    load_data("cuModuleLoadFatBinary", place, image, (0, std::ptr::null(), std::ptr::null_mut()))
}

/// Loads a module from a file.
///
/// # Safety
/// `place` is null or points to a place for a handle; `path` is null or a C string.
pub unsafe extern "C" fn cuModuleLoad(place: *mut CUmodule, path: *const c_char) -> Status {
    with_context("cuModuleLoad", |driver, context| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let path = unsafe { text(path) }?;
        let bytes = fs::read(path).map_err(|_| Status::FileNotFound)?;
        let module = driver.load_module(Some(context), &Image::of(&bytes), &Options::none())?;
        // SAFETY: the caller's promise.
        unsafe { write(place, module) }
    })
}

/// Unloads a module, once the device's work is done.
pub extern "C" fn cuModuleUnload(module: CUmodule) -> Status {
    let owner = |driver: &Driver| driver.modules.get(module).ok()?.context;
    taking_away("cuModuleUnload", owner, |driver| {
        // A library's module goes with the library.
        driver.modules.get(module)?.context.ok_or(Status::InvalidHandle)?;
        driver.unload(module)
    })
}

/// A kernel of a module.
///
/// # Safety
/// `place` is null or points to a place for a handle; `name` is null or a C string.
pub unsafe extern "C" fn cuModuleGetFunction(
    place: *mut CUfunction,
    module: CUmodule,
    name: *const c_char,
) -> Status {
    with_context("cuModuleGetFunction", |driver, _| {
        not_null(place)?;
        // SAFETY: the caller's promise.
        let function = driver.find_function(module, unsafe { text(name) }?)?;
        // SAFETY: the caller's promise.
        unsafe { write(place, function) }
    })
}

/// How many kernels a module has.
///
/// # Safety
/// `place` is null or points to a place for the number.
pub unsafe extern "C" fn cuModuleGetFunctionCount(place: *mut c_uint, module: CUmodule) -> Status {
    with_context("cuModuleGetFunctionCount", |driver, _| {
        let count = driver.modules.get(module)?.functions.len();
        // SAFETY: the caller's promise.
        unsafe { write(place, c_uint::try_from(count).unwrap_or(c_uint::MAX)) }
    })
}

/// The first `count` kernels of a module.
///
/// # Safety
/// `places` is null or points to places for `count` handles.
pub unsafe extern "C" fn cuModuleEnumerateFunctions(
    places: *mut CUfunction,
    count: c_uint,
    module: CUmodule,
) -> Status {
    with_context("cuModuleEnumerateFunctions", |driver, _| {
        not_null(places)?;
        for (index, function) in driver.modules.get(module)?.functions.iter().take(count as usize).enumerate()
        {
            // SAFETY: the caller's promise.
            unsafe { write(places.add(index), *function) }?;
        }
        Ok(())
    })
}

/// Address and size in bytes of a module's variable.
///
/// # Safety
/// Each place is null (not wanted) or points to a place for its result; `name` is null or a C string.
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    module: CUmodule,
    name: *const c_char,
) -> Status {
    with_context("cuModuleGetGlobal_v2", |driver, _| {
        // SAFETY: the caller's promise.
        let (found, size) = driver.find_variable(module, unsafe { text(name) }?)?;
        // SAFETY: the caller's promise, for both.
        unsafe {
            write_if_wanted(address, found);
            write_if_wanted(bytes, size as usize);
        }
        Ok(())
    })
}

/// Whether modules are loaded eagerly (1) or lazily (2): eagerly, so that what is not supported is
/// told at the load.
///
/// # Safety
/// `place` is null or points to a place for the answer.
pub unsafe extern "C" fn cuModuleGetLoadingMode(place: *mut c_uint) -> Status {
    // SAFETY: the caller's promise.
    with_driver("cuModuleGetLoadingMode", |_| unsafe { write(place, 1) })
}
