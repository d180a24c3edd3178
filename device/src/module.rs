//! Modules: loaded, looked at for what launches need, and unloaded.

use std::ffi::CString;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_cuda_abi::{CUcontext, CUfunction, CUmodule};
use bugaroo_protocol::{Message, ModuleReport};
use bugaroo_simulator::Program;

use crate::error::{CallResult, Status};
use crate::images::image::Image;
use crate::images::jit::JitOptions;
use crate::images::refusal::{ImageRefusal, told};
use crate::loading::{Loading, Source};
use crate::objects::function::LoadedKernel;
use crate::objects::module::LoadedModule;
use crate::state::Gpu;
use crate::trial::injection::Injected;

impl Gpu {
    /// Loads a module, and tells the program, the user and the harness when that fails.
    ///
    /// # Errors
    /// As the refusal says.
    pub fn load_module(
        &mut self,
        context: Option<CUcontext>,
        image: &Image<'_>,
        options: &JitOptions,
    ) -> CallResult<CUmodule> {
        self.load_module_beside(context, None, image, options)
    }

    /// The same; its managed variables are those of the same module on the first device.
    ///
    /// # Errors
    /// As the refusal says.
    pub fn load_module_beside(
        &mut self,
        context: Option<CUcontext>,
        first: Option<CUmodule>,
        image: &Image<'_>,
        options: &JitOptions,
    ) -> CallResult<CUmodule> {
        let source = self.source(image);
        let first = first.and_then(|first| self.code.modules.get(first).ok());
        let first = first.map(|first| Arc::clone(&first.program));
        let loaded = source.and_then(|source| self.load_text(context, first.as_deref(), &source));
        match loaded {
            Ok(module) => {
                options.tell(None);
                if let Some(context) = context {
                    self.own_module(module, self.device_of(context));
                }
                Ok(module)
            }
            Err(refusal) => {
                options.tell(Some(&refusal.text));
                Err(self.refuse(&refusal))
            }
        }
    }

    /// Tells the user and the harness why something was refused; the status for the program.
    pub fn refuse(&mut self, refusal: &ImageRefusal) -> Status {
        if refusal.unsupported {
            let _ = self.trial.report.unsupported(&refusal.text);
        } else if self.trial.report.wanted() {
            // A plain virtual GPU is as quiet as the real driver; the log tells who asks.
            eprintln!("bugaroo: {}", refusal.text);
        }
        refusal.status
    }

    fn load_text(
        &mut self,
        context: Option<CUcontext>,
        first: Option<&Program>,
        source: &Source<'_>,
    ) -> Result<CUmodule, ImageRefusal> {
        let digest = source.digest;
        let number = self.code.module_numbers.of(digest);
        let prepared =
            self.trial.injection.prepare(&source.text, digest, (&self.config, self.memory.capacity()))?;
        let before = self.module_memory();
        let Loading { program, facts, native, recorded } = self.load_prepared(&prepared, first, source)?;
        self.tell_module_memory(&before);
        let table = match prepared.logs() {
            Some(logs) if facts.table.is_some() => Some(Arc::clone(logs.table())),
            _ => facts.table.clone(),
        };
        let sites = self.trial.injection.report_sites().then(|| prepared.sites(table.as_deref(), number));
        // What is instrumented is another text.
        let placed = self.trial.injection.placed(&program, table.as_deref().filter(|_| prepared.is_plain()));
        let injected = self.trial.injection.install(prepared, native, number, &program);
        let kernels: Vec<String> = program.kernels().iter().map(|kernel| kernel.name.clone()).collect();
        let module = self.code.modules.insert(LoadedModule {
            context,
            program,
            injected: injected.map(Rc::new),
            recorded,
            functions: Vec::new(),
        });
        self.trial.ends.loaded(module);
        let mut functions = Vec::with_capacity(kernels.len());
        for name in &kernels {
            // PTX names hold no NUL.
            let name = CString::new(name.as_str()).unwrap_or_default();
            functions.push(self.code.functions.insert(LoadedKernel::new(
                module,
                name,
                facts.target,
                facts.constants,
            )));
        }
        if let Ok(loaded) = self.code.modules.get_mut(module) {
            loaded.functions = functions;
        }
        self.trial.report.send(&Message::Module(ModuleReport {
            module: number,
            digest: digest.to_string(),
            kernels,
            sites,
        }));
        if let Some(placed) = placed {
            self.trial.report.send(&Message::Placed { module: number, placed });
        }
        Ok(module)
    }

    /// Refuses a kernel that the simulator cannot run, before anything of it does.
    ///
    /// # Errors
    /// `InvalidHandle`; `NotSupported`, which is told to the user and the harness, too.
    pub fn check_runnable(&self, function: CUfunction) -> CallResult {
        let (function, kernel) = self.kernel(function)?;
        let module = self.code.modules.get(function.module)?;
        let logs = module.injected.as_deref().and_then(Injected::logs);
        if let Some(why) = logs.and_then(|logs| logs.refused()) {
            let what = format!("kernel `{}` cannot be launched: {why}", function.name());
            return Err(self.trial.report.unsupported(&what));
        }
        let Some(reason) = &kernel.refused else { return Ok(()) };
        let original = |line| match &module.injected {
            Some(injected) => injected.original_line(line),
            None => Some(line),
        };
        let text = told(reason.clone(), original);
        Err(self
            .trial
            .report
            .unsupported(&format!("kernel `{}` cannot be launched: {text}", function.name())))
    }

    /// The handle of a module's kernel.
    ///
    /// # Errors
    /// `InvalidHandle`, `NotFound`.
    pub fn find_function(&self, module: CUmodule, name: &str) -> CallResult<CUfunction> {
        let functions = &self.code.modules.get(module)?.functions;
        let named = |handle: &&CUfunction| {
            self.code
                .functions
                .get(**handle)
                .is_ok_and(|function| function.name.as_bytes() == name.as_bytes())
        };
        functions.iter().find(named).copied().ok_or(Status::NotFound)
    }

    /// Address and size of a module's variable.
    ///
    /// # Errors
    /// `InvalidHandle`, `NotFound`.
    pub fn find_variable(&self, module: CUmodule, name: &str) -> CallResult<(u64, u64)> {
        self.code.modules.get(module)?.program.variable(name).ok_or(Status::NotFound)
    }
}
