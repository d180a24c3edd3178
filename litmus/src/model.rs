//! Which memory behaviour is shown.

use bugaroo_device_handlers as handlers;

/// A memory model, and what makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Nothing: interleavings of whole instructions.
    Sc,
    /// The paper's Algorithm 1, by instrumentation: shows outcomes that PTX forbids.
    Bugaroo,
    /// Sound store buffers, by instrumentation.
    StoreBufferHandlers,
    /// Sound store buffers, by the virtual GPU itself.
    StoreBuffer,
}

impl Model {
    /// The handlers' word for it, if they make it.
    pub(crate) fn handlers(self) -> Option<handlers::Model> {
        match self {
            Model::Sc | Model::StoreBuffer => None,
            Model::Bugaroo => Some(handlers::Model::Bugaroo),
            Model::StoreBufferHandlers => Some(handlers::Model::StoreBuffer),
        }
    }
}
