//! What device code calls a model.

use bugaroo_device_handlers::HandlerModel;
use bugaroo_protocol::Model;

/// The handlers' word for a model. `ptx` never gets there: the virtual GPU simulates it.
pub fn handler_model(model: Model) -> HandlerModel {
    match model {
        Model::Bugaroo => HandlerModel::Bugaroo,
        Model::StoreBuffer | Model::Ptx => HandlerModel::StoreBuffer,
    }
}
