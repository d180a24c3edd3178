//! Calls of the host program as sites: the function called, and from where. One place of the program is one site, however
//! often it calls.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use bugaroo_protocol::HostFrame;
use bugaroo_semantics::event::SiteNumber;

use crate::trial::origins::{Trace, Traces, frames};

/// The first site of a call; below are those of programs.
pub const FIRST: SiteNumber = 1 << 31;

/// The calls that have done something so far.
#[derive(Debug, Default)]
pub struct Calls {
    traces: Traces,
    numbers: HashMap<(Rc<str>, Trace), SiteNumber>,
    all: Vec<(Rc<str>, Trace)>,
    /// Names and lines of those that were asked for: to look them up takes long.
    named: RefCell<HashMap<SiteNumber, Vec<HostFrame>>>,
    /// The function of the API that goes on.
    function: Rc<str>,
}

impl Calls {
    /// The program has called this function of the API.
    pub fn entered(&mut self, function: &str) {
        // Versions of a function are one to who calls it.
        let bare = function.trim_end_matches(|c: char| c.is_ascii_digit());
        let function = bare.strip_suffix("_v").unwrap_or(function);
        if *self.function != *function {
            self.function = function.into();
        }
    }

    /// The site of the call that goes on.
    pub fn here(&mut self) -> SiteNumber {
        let trace = self.traces.here();
        self.site(Rc::clone(&self.function), trace)
    }

    /// The site of an access of the host's own, by an instruction and its callers: a call of nothing.
    pub fn access(&mut self, frames: &[usize]) -> SiteNumber {
        let trace = self.traces.kept(frames);
        self.site("".into(), trace)
    }

    fn site(&mut self, function: Rc<str>, trace: Trace) -> SiteNumber {
        let call = (function, trace);
        if let Some(site) = self.numbers.get(&call) {
            return *site;
        }
        let number = u32::try_from(self.all.len()).expect("no program has 2^31 places that call the API");
        let site = FIRST + number;
        self.all.push(call.clone());
        self.numbers.insert(call, site);
        site
    }

    fn call(&self, site: SiteNumber) -> Option<&(Rc<str>, Trace)> {
        self.all.get(site.checked_sub(FIRST)? as usize)
    }

    /// The function that was called there.
    pub fn function(&self, site: SiteNumber) -> Option<&str> {
        self.call(site).map(|(function, _)| &**function)
    }

    /// From where it was called.
    pub fn frames(&self, site: SiteNumber) -> Vec<HostFrame> {
        let Some((_, trace)) = self.call(site) else { return Vec::new() };
        self.named.borrow_mut().entry(site).or_insert_with(|| frames(trace)).clone()
    }
}
