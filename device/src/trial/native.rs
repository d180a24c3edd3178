//! Memory models that the virtual GPU simulates itself: nothing is injected, the program's own text runs. Where the orders
//! want fences inserted, left out or narrowed, it is the text with these fences; likewise with what they want inserted beside
//! stretches of the source, or widened.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use bugaroo_injector::collect_sites::{InjectionPoint, SiteTable};
use bugaroo_protocol::{Model, Orders};
use bugaroo_ptx::types::Scope;
use bugaroo_simulator::maker::{ModelMaker, ModelSettings};
use bugaroo_simulator::{MemoryModel, Program};

use crate::trial::site_flags::site_flags;

/// The program of a launch, and its model.
type Chosen = (Arc<Program>, Option<Box<dyn MemoryModel>>);

/// What launches have to know of a module.
#[derive(Debug)]
pub struct Native {
    loaded: Rc<LoadedText>,
    /// The program with the fences that the orders want, where they want any; known from the first launch on, as before
    /// it nothing may depend on the orders (see [`crate::trial::fork_server`]).
    asked: OnceCell<Result<Option<Text>, String>>,
}

/// A program as it was loaded, and the sites of its text.
#[derive(Debug)]
pub struct LoadedText {
    text: Text,
    table: Arc<SiteTable>,
}

impl LoadedText {
    /// Of a program that was loaded from the text that the table is of.
    pub fn new(program: &Arc<Program>, table: Arc<SiteTable>) -> LoadedText {
        let text = Text::new(Arc::clone(program));
        // Both before the first launch: what is known then is known to all trials that are forked.
        text.store_buffer(&table);
        text.ptx();
        LoadedText { text, table }
    }
}

/// A program and what each model has to know of it. Which model it is, a trial's orders say, and trials are forked from one
/// process.
#[derive(Debug)]
struct Text {
    program: Arc<Program>,
    store_buffer: OnceCell<ModelMaker>,
    ptx: OnceCell<ModelMaker>,
}

impl Text {
    fn new(program: Arc<Program>) -> Text {
        Text { program, store_buffer: OnceCell::new(), ptx: OnceCell::new() }
    }

    fn store_buffer(&self, table: &SiteTable) -> &ModelMaker {
        self.store_buffer.get_or_init(|| ModelMaker::store_buffer(&self.program, table))
    }

    fn ptx(&self) -> &ModelMaker {
        self.ptx.get_or_init(|| ModelMaker::ptx(&self.program))
    }
}

impl Native {
    /// For such a program.
    pub fn new(loaded: Rc<LoadedText>) -> Native {
        Native { loaded, asked: OnceCell::new() }
    }

    /// The program that launches run; why it cannot be had, where it cannot.
    fn text(&self, orders: &Orders, module: u32) -> Result<&Text, String> {
        let asked = self.asked.get_or_init(|| {
            let (program, table) = (&self.loaded.text.program, &self.loaded.table);
            let words = site_flags(orders, module, table.sites.len());
            let widen =
                orders.variation.widen.iter().filter(|site| site.module == module).map(|site| site.index);
            // What is tried for one of several devices may be for the others to see.
            let wide = if orders.devices > 1 { Scope::Sys } else { Scope::Gpu };
            let widen = widen.collect();
            let changed = program.changed(table, &words, (&widen, wide), &orders.variation.insert);
            let refused = |(insertion, why)| format!("{insertion} cannot be inserted: {why}");
            let program = changed.map_err(refused)?;
            Ok(program.map(|program| Text::new(Arc::new(program))))
        });
        match asked {
            Ok(asked) => Ok(asked.as_ref().unwrap_or(&self.loaded.text)),
            Err(why) => Err(why.clone()),
        }
    }

    /// The program that launches run, once there was one.
    pub fn program(&self) -> &Arc<Program> {
        let asked = self.asked.get().and_then(|asked| asked.as_ref().ok()?.as_ref());
        &asked.unwrap_or(&self.loaded.text).program
    }

    /// The site at an instruction of that program.
    pub fn site(&self, pc: u32) -> Option<u32> {
        let span = self.program().spans().nth(pc as usize)?;
        let at = |point: &&InjectionPoint| (point.span.start, point.span.end) == span && point.site.is_some();
        self.loaded.table.points.iter().find(at)?.site
    }

    /// The program of a launch and its model; None where that would change nothing. The kernel is one that the orders
    /// name, or not; `pw` is by space.
    ///
    /// # Errors
    /// When the program has no place for something that the orders want inserted; why.
    pub fn model(
        &self,
        orders: &Orders,
        module: u32,
        (selected, pw): (bool, (f64, f64)),
        ordinal: u64,
    ) -> Result<Chosen, String> {
        let text = self.text(orders, module)?;
        let seed = (orders.seed, ordinal);
        let variation = &orders.variation;
        let (maker, pr) = match orders.model() {
            Some(Model::Ptx) => (text.ptx(), variation.space.each(if selected { variation.pr } else { 0.0 })),
            _ => (text.store_buffer(&self.loaded.table), (0.0, 0.0)),
        };
        let (pw, pr) = (<[f64; 2]>::from(pw), <[f64; 2]>::from(pr));
        let settings = ModelSettings {
            pw,
            pr,
            seed,
            capacity: variation.buffer,
            memory: variation.model_memory,
            swarm: variation.swarm,
        };
        // Without anything to draw, memory is sequentially consistent, whatever fences there are.
        let model = (pw != [0.0; 2] || pr != [0.0; 2]).then(|| maker.make(&settings));
        Ok((Arc::clone(&text.program), model))
    }
}
