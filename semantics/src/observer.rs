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

/// Which accesses an observer need not be told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spares {
    /// Those of shared memory.
    pub shared: bool,
    /// Weak ones that an earlier one of their basic block has covered ([`crate::inferred::Role::covered`]).
    pub covered: bool,
    /// Of those who spare what is covered: loads of what a later store of their basic block overwrites
    /// ([`crate::inferred::Role::overwritten`]), and accesses that go where an earlier one goes, but for a constant
    /// ([`crate::inferred::Role::led_by`]). Who spares these has to know the roles, or misses what they do.
    pub led: bool,
    /// Loads of global memory to which the launch does not write, as far as its text and its arguments say. Where it does so all the same, who
    /// spares them is told by [`Event::UnforeseenWrite`], and of all that come behind.
    pub unwritten: bool,
}

impl Spares {
    /// What neither has to be told.
    pub fn and(self, other: Spares) -> Spares {
        Spares {
            shared: self.shared && other.shared,
            covered: self.covered && other.covered,
            led: self.led && other.led,
            unwritten: self.unwritten && other.unwritten,
        }
    }
}

/// Two who look on.
pub struct Both(pub Rc<RefCell<dyn Observer>>, pub Rc<RefCell<dyn Observer>>);

impl Observer for Both {
    fn wants(&self) -> Wants {
        self.0.borrow().wants().or(self.1.borrow().wants())
    }

    fn spares(&self) -> Spares {
        self.0.borrow().spares().and(self.1.borrow().spares())
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

    /// What it need not be told, though it may be: nothing, if it does not say. Does not change.
    fn spares(&self) -> Spares {
        Spares::default()
    }

    /// Lanes of a warp access memory.
    fn access(&mut self, access: &Access<'_>);

    /// Something else happens.
    fn event(&mut self, event: &Event<'_>);
}
