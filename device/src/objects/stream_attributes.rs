//! Attributes of streams, which are kept and told.

use std::collections::BTreeMap;
use std::ffi::c_uint;

use crate::lane::Lane;

/// Attributes that were set, by stream and number.
pub type Attributes = BTreeMap<(Lane, c_uint), [u8; 64]>;
