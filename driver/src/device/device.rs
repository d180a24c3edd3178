//! What the device is called.

/// What the device is called.
pub const NAME: &str = "Bugaroo virtual GPU";
