//! Tells launches as they are when they start ([`crate::trial::recorded`]).

use bugaroo_protocol::{Hex, Message, RecordedLaunch};
use bugaroo_ptx::types::Space;

use crate::digest::Digest;
use crate::error::CallResult;
use crate::objects::work::LaunchRequest;
use crate::state::Gpu;
use crate::trial::recorded::{Held, tensors};

impl Gpu {
    /// Says what a launch is that is about to start, where the orders want that.
    ///
    /// # Errors
    /// `InvalidHandle` when its function or module is gone.
    pub fn record(&mut self, request: &LaunchRequest) -> CallResult {
        let function = self.code.functions.get(request.function)?;
        let module = self.code.modules.get(function.module)?;
        let (Some(recorder), Some(source)) = (&mut self.trial.recorder, &module.recorded) else {
            return Ok(());
        };
        if recorder.said.insert(source.digest) {
            let (digest, text) = (source.digest.to_string(), source.text.clone());
            self.trial.report.send(&Message::ModuleText { digest, text });
        }
        let (words, _) = request.parameters.as_chunks::<8>();
        let given = |held: &Held| words.iter().any(|word| held.has(u64::from_le_bytes(*word)));
        let mut constants = Vec::new();
        for constant in &source.constants {
            if constant.space == Space::Global && given(constant) {
                continue;
            }
            let Some(bytes) = constant.read(&self.memory) else { continue };
            let digest = Digest::of(&bytes);
            if constant.initial == Some(digest) {
                continue;
            }
            if recorder.said.insert(digest) {
                let bytes = Hex(bytes);
                self.trial.report.send(&Message::VariableBytes { digest: digest.to_string(), bytes });
            }
            constants.push((constant.name.clone(), digest.to_string()));
        }
        let told = |table: &Held| constants.iter().any(|(name, _)| *name == table.name);
        let changed = source.tables.iter().filter(|table| !told(table)).filter(|table| {
            let now = table.read(&self.memory).map(|bytes| Digest::of(&bytes));
            now.is_none() || now != table.initial || given(table)
        });
        let changed = changed.map(|table| table.name.clone()).collect();
        self.trial.report.send(&Message::Recorded(RecordedLaunch {
            module: source.digest.to_string(),
            kernel: function.name().to_owned(),
            grid: request.grid,
            block: request.block,
            cluster: request.together.cluster,
            dynamic_shared: request.dynamic_shared,
            params: Hex(request.parameters.clone()),
            constants,
            changed,
            tensors: tensors(&request.parameters),
        }));
        Ok(())
    }
}
