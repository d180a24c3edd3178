//! Race detectors: each a folder of its own, fed by one stream of events ([`bugaroo_semantics::event`]).

pub mod barracuda;
mod collected;
pub mod finding;
pub mod hirace;
pub mod ptx;
pub mod scord;
mod set;
pub mod shadow;
mod slabs;
mod table;
pub mod watched;

pub use barracuda::Barracuda;
pub use finding::{
    HowFar, MissingOrder, NO_SITE, NotKept, RaceDetector, RaceFinding, RacingKind, RacingParty, Warning, Who,
};
pub use hirace::Hirace;
pub use ptx::ExactDetector;
pub use scord::Scord;
pub use set::Set;
pub use watched::Watched;
