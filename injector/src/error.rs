//! Why a module is not instrumented.

use bugaroo_device_handlers::{SYMBOL_PREFIX, SiteWord};
use bugaroo_ptx::ast::{Function, Item, Module, Statement, StatementKind};

use crate::collect_sites::SiteTable;
use crate::emit::{LABEL_PREFIX, REGISTER_PREFIX};

/// Why a module is not instrumented.
#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// It is not PTX that we can read.
    #[error(transparent)]
    Parse(#[from] bugaroo_ptx::ParseError),
    /// 32-bit modules are from before CUDA 12, and have other address arithmetic.
    #[error("the module is for {0}-bit addresses; only 64-bit modules are instrumented")]
    AddressSize(u32),
    /// A name of ours is in it: most likely it went through here before.
    #[error("the module has the name '{0}', which only instrumented modules have")]
    AlreadyInstrumented(String),
    /// More stores than a site's word can number.
    #[error("the module has {0} store sites; at most {max} can be told apart", max = SiteWord::MAX_SLOTS)]
    TooManyStores(u32),
    /// Our edits contradict each other, which is a bug.
    #[error("internal: {0}")]
    Edit(#[from] bugaroo_ptx::edit::EditError),
}

/// Refuses what cannot be instrumented.
pub(crate) fn check(module: &Module) -> Result<(), InstrumentError> {
    if module.address_size != 64 {
        return Err(InstrumentError::AddressSize(module.address_size));
    }
    for item in &module.items {
        let clash = match item {
            Item::Variable(variable) => clashes(&variable.name),
            Item::Function(function) => clash_in(function),
            Item::Directive(_) => None,
        };
        if let Some(name) = clash {
            return Err(InstrumentError::AlreadyInstrumented(name));
        }
    }
    Ok(())
}

pub(crate) fn check_table(table: &SiteTable) -> Result<(), InstrumentError> {
    if table.store_sites > SiteWord::MAX_SLOTS {
        return Err(InstrumentError::TooManyStores(table.store_sites));
    }
    Ok(())
}

fn clash_in(function: &Function) -> Option<String> {
    let body = function.body.iter().find_map(|body| clash_among(&body.statements));
    clashes(&function.name).or(body)
}

fn clash_among(statements: &[Statement]) -> Option<String> {
    statements.iter().find_map(|statement| match &statement.kind {
        StatementKind::Label(name) => clashes(name),
        StatementKind::Registers(declarations) => declarations.iter().find_map(|one| clashes(&one.name)),
        StatementKind::Variable(variable) => clashes(&variable.name),
        StatementKind::Block(inner) => clash_among(inner),
        _ => None,
    })
}

/// The name, when it is one that we give.
fn clashes(name: &str) -> Option<String> {
    // `%bugaroo<9>` declares `%bugaroo0` and on, which are not ours.
    let ours = [SYMBOL_PREFIX, LABEL_PREFIX, REGISTER_PREFIX, "bugaroo_in", "bugaroo_out"];
    ours.iter().any(|prefix| name.starts_with(prefix)).then(|| name.to_owned())
}
