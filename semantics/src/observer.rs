//! Who looks on while a program runs.

use std::cell::RefCell;
use std::rc::Rc;

use crate::event::{Access, Event};

/// What an observer asks to be told besides what everybody is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// [`Event::Split`], [`Event::Else`], [`Event::Join`].
    pub branches: bool,
    /// [`Event::Landed`], [`Event::ReadFrom`]: which write a read has read.
    pub sources: bool,
    /// What memory held before an access: [`crate::event::Values::before`].
    pub before: bool,
}

impl Wants {
    /// What either wants.
    pub fn or(self, other: Wants) -> Wants {
        Wants {
            branches: self.branches || other.branches,
            sources: self.sources || other.sources,
            before: self.before || other.before,
        }
    }
}

/// Two who look on.
pub struct Both(pub Rc<RefCell<dyn Observer>>, pub Rc<RefCell<dyn Observer>>);

impl Observer for Both {
    fn wants(&self) -> Wants {
        self.0.borrow().wants().or(self.1.borrow().wants())
    }

    fn access(&mut self, access: &Access<'_>) {
        self.0.borrow_mut().access(access);
        self.1.borrow_mut().access(access);
    }

    fn event(&mut self, event: &Event<'_>) {
        self.0.borrow_mut().event(event);
        self.1.borrow_mut().event(event);
    }
}

/// Looks on while a program runs. It changes nothing: memory, order and outcome are the same with it and without.
///
/// It lives as long as the process, over all launches.
pub trait Observer {
    /// What it asks for. Does not change.
    fn wants(&self) -> Wants;

    /// Lanes of a warp access memory.
    fn access(&mut self, access: &Access<'_>);

    /// Something else happens.
    fn event(&mut self, event: &Event<'_>);
}
