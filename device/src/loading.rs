//! From a module's text to its program: translated, or taken from what the trial's server has learned.

use std::rc::Rc;
use std::sync::Arc;

use bugaroo_simulator::Program;

use crate::digest::Digest;
use crate::images::image::Image;
use crate::images::refusal::ImageRefusal;
use crate::objects::known::{Known, KnownLoad, TextFacts};
use crate::state::Gpu;
use crate::trial::injection::Prepared;
use crate::trial::native::LoadedText;
use crate::trial::recorded::ModuleSource;

/// A module that was loaded and is in no table yet.
pub(crate) struct Loading {
    /// The code; its variables lie in the device's memory.
    pub program: Arc<Program>,
    /// Of the text that was loaded.
    pub facts: TextFacts,
    /// What launches of the program's own text have to know, where the orders want anything of it.
    pub native: Option<Rc<LoadedText>>,
    /// What its launches are recorded with, where they are.
    pub recorded: Option<ModuleSource>,
}

/// A module's own text.
pub(crate) struct Source<'i> {
    image: &'i Image<'i>,
    /// The text.
    pub text: Arc<str>,
    /// Of the text.
    pub digest: Digest,
    known: Option<Known>,
}

impl Gpu {
    /// The text of an image.
    ///
    /// # Errors
    /// When there is none that this device can run.
    pub(crate) fn source<'i>(&self, image: &'i Image<'i>) -> Result<Source<'i>, ImageRefusal> {
        let known = self.code.known.find(image);
        if let Some(known) = known
            && self.trial.recorder.is_none()
        {
            let (text, digest) = self.code.known.text(known);
            return Ok(Source { image, text, digest, known: Some(known) });
        }
        let text: Arc<str> = image.ptx(self.config.compute_capability)?.into();
        Ok(Source { image, digest: Digest::of(text.as_bytes()), text, known: None })
    }

    /// Loads a text as the orders want it; its managed variables are those of `first`, if there is that.
    ///
    /// # Errors
    /// As the refusal says.
    pub(crate) fn load_prepared(
        &mut self,
        prepared: &Prepared,
        first: Option<&Program>,
        source: &Source<'_>,
    ) -> Result<Loading, ImageRefusal> {
        // What is instrumented is another text, and what shares variables with another load has something beside it.
        let plain = prepared.is_plain() && first.is_none() && self.trial.recorder.is_none();
        let refused = |error| ImageRefusal::load(error, |line| prepared.original_line(line));
        let mut addresses = None;
        if let Some(known) = source.known.filter(|_| plain) {
            let found = self.code.known.place(known, &mut self.memory).map_err(refused)?;
            // The server may have learned it for orders that want less.
            let injection = &self.trial.injection;
            let enough = |load: &KnownLoad| {
                (found.facts.table.is_some() || !injection.wants_table())
                    && (load.native.is_some() || !injection.wants_native())
            };
            if let Some(KnownLoad { program, native }) = found.load.filter(enough) {
                return Ok(Loading { program, facts: found.facts, native, recorded: None });
            }
            addresses = Some(found.addresses);
        }
        let text = prepared.text(&source.text);
        let ast = bugaroo_ptx::parse(text).map_err(|error| ImageRefusal::syntax(&source.text, &error))?;
        let (memory, config) = (&mut self.memory, &self.config);
        let program = match (addresses, first) {
            (Some(addresses), _) => {
                let translated =
                    Program::load_at(&ast, &addresses, config).and_then(|(program, contents)| {
                        contents.write(memory)?;
                        Ok(Arc::new(program))
                    });
                // They were allocated just now, for nobody else.
                translated.inspect_err(|_| {
                    for address in &addresses {
                        let _ = memory.free(*address);
                    }
                })
            }
            (None, Some(first)) => Program::load_beside(&ast, memory, config, first).map(Arc::new),
            (None, None) => Program::load(&ast, memory, config).map(Arc::new),
        };
        let program = program.map_err(refused)?;
        let facts = TextFacts::of(&ast, self.trial.injection.wants_table());
        let native = prepared.is_plain() && self.trial.injection.wants_native();
        let table = facts.table.clone().filter(|_| native);
        let native = table.map(|table| Rc::new(LoadedText::new(&program, table)));
        let recorder = self.trial.recorder.as_ref();
        let recorded =
            recorder.map(|_| ModuleSource::new(&source.text, source.digest, &ast, &program, &self.memory));
        if plain {
            self.code.known.tell(source.image, &program);
        }
        Ok(Loading { program, facts, native, recorded })
    }
}
