//! A granule: what has happened there, and the messages that a strong read may come across.
//!
//! Where relaxed atomics of one CTA follow each other ([`super::quick`]), the message of the last one is what its record says. It is
//! not written down then, until somebody asks.

use super::links::Links;
use super::lists::Lists;
use super::messages::Messages;
use super::record::{Record, STRONG, key};

/// A granule.
#[derive(Debug, Default)]
pub(super) struct Cell {
    lists: Lists,
    messages: Option<Box<Messages>>,
    /// The one message is that of the last write; only writer and reach, which are not up to date, may differ.
    implied: bool,
}

impl Cell {
    /// Accesses.
    #[inline]
    pub fn lists(&mut self) -> &mut Lists {
        self.write_down();
        &mut self.lists
    }

    /// Strong writes.
    #[inline]
    pub fn messages(&mut self) -> &mut Option<Box<Messages>> {
        self.write_down();
        &mut self.messages
    }

    #[inline]
    fn write_down(&mut self) {
        if self.implied {
            self.implied = false;
            self.take_over();
        }
    }

    /// The message is made what the last write says.
    #[inline(never)]
    fn take_over(&mut self) {
        if let (Some(messages), Some(last)) = (&mut self.messages, self.lists.writes.last())
            && let Some(message) = messages.all.first_mut()
        {
            message.by.thread = key(last.cta, i32::from(last.base) as u32 & 0x3ff);
            message.reach = last.reach();
        }
    }

    /// Accesses and how many bytes are held besides.
    pub fn held(&self) -> (&Lists, usize) {
        (&self.lists, self.messages.as_ref().map_or(0, |messages| messages.held()))
    }

    /// Whether the last that happened here was an atomic of the same CTA as this one, which stands for it: then those before it. Plain
    /// writes, all of them.
    #[inline]
    pub fn repeats(&mut self, new: &Record, links: &mut Links) -> Option<&mut [Record]> {
        if !self.lists.reads.is_empty() {
            return None;
        }
        let (last, before) = self.lists.writes.split_last()?;
        let alike = (last.mask, last.grid, last.cta, last.size())
            == (new.mask, new.grid, new.cta, new.size())
            && new.reach() <= last.reach();
        let is_repeated = alike
            && last.is(STRONG)
            && before.len() <= 2
            && before.iter().all(|old| !old.is(STRONG))
            && (self.implied || self.carries_itself(last.link, new, links));
        if !is_repeated {
            return None;
        }
        self.implied = true;
        let (last, before) = self.lists.writes.split_last_mut()?;
        *last = Record { link: last.link, ..*new };
        Some(before)
    }

    /// Whether the only message is that of a write with nothing but itself to hand on. It gets a new use of its number: others may
    /// have read it.
    #[inline(never)]
    fn carries_itself(&mut self, link: u32, new: &Record, links: &mut Links) -> bool {
        let Some(messages) = &mut self.messages else { return false };
        let [message] = &mut *messages.all else { return false };
        let alone = link != 0
            && (message.live, message.mask, message.observers.link) == (new.mask, new.mask, link)
            && (message.by.grid, message.by.cta, message.size) == (new.grid, new.cta, new.size())
            && (message.number, message.failed) == (0, false)
            && message.chain.before.is_empty()
            && message.entries.is_none();
        let use_of = if alone { links.renew((link, message.observers.use_of)) } else { None };
        message.observers.use_of = use_of.unwrap_or(message.observers.use_of);
        use_of.is_some()
    }
}
