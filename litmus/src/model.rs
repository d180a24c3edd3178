//! Which memory behaviour is shown.

use bugaroo_device_handlers as handlers;

/// A memory model, and what makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestModel {
    /// Nothing: interleavings of whole instructions.
    Sc,
    /// The paper's Algorithm 1, by instrumentation: shows outcomes that PTX forbids.
    Bugaroo,
    /// Sound store buffers, by instrumentation; a report tells it by `handlers`.
    #[serde(rename = "store-buffer")]
    StoreBufferHandlers,
    /// Sound store buffers, by the virtual GPU itself.
    StoreBuffer,
    /// The PTX memory model as a machine.
    Ptx,
}

impl TestModel {
    /// The handlers' word for it, if they make it.
    pub(crate) fn handlers(self) -> Option<handlers::HandlerModel> {
        match self {
            TestModel::Sc | TestModel::StoreBuffer | TestModel::Ptx => None,
            TestModel::Bugaroo => Some(handlers::HandlerModel::Bugaroo),
            TestModel::StoreBufferHandlers => Some(handlers::HandlerModel::StoreBuffer),
        }
    }
}
